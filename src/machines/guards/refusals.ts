import type { Draft } from '../draft.ts'
import type { ReplyOutput } from '../effectTypes.ts'
import { addReply, endRun, resetReply } from '../runs.ts'

/** Ends the run in which a guard refused a message from people, or the answer. */
export function refuseRun(draft: Draft, output: ReplyOutput): void {
  if (output.ok) addReply(draft, output)
  else resetReply(draft, output)
  endRefused(draft)
}

/** Ends a refused run, perhaps after a crash. */
export function endRefused(draft: Draft): void {
  const refusal = draft.context.run?.refusal
  endRun(draft, 'refusal', refusal === undefined ? {} : { refusal })
}
