// Results from prose stand before names and records of work, parts of a class after prose that has the word, and all of
// them before derivations, which repeat one another.
var Scorer = {
  score: ([docname, , anchor, , score]) =>
    docname.startsWith("derivations/") ? score / 100 - 10
      : /^api\//.test(docname) && anchor.split(".").length > 2 ? score / 10
      : /^(api|gallery)\/|^(architecture|benchmarks|changelog|contributing)$/.test(docname) ? score / 2 : score,
  objNameMatch: 40, objPartialMatch: 6, objPrio: { 0: 15, 1: 5, 2: -5 }, objPrioDefault: 0,
  title: 30, partialTitle: 12, term: 5, partialTerm: 2,
};
