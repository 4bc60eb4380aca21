"""Programs over lotteries of posted prices, by column generation."""
