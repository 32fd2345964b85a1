/** The forms of a decision, for error messages; in a command the last three are `answer`, `return` and `fail`. */
export const decisionForms =
  'give "approve" or "deny" for an approval, { value } for a question, { result } or { error } for a call that you carry out (in a command: "answer", "return", "fail")'
