import type { SyntheticReason } from '../protocol/messages.ts'
import { denialText } from '../protocol/text/denial.ts'

/** A reason that needs an explanation; the answer of a hook explains itself. */
export type ExplainedReason = Exclude<SyntheticReason, 'answered'>

/** Text that the model reads in place of a result that the tool did not give. */
export const explanations: {
  readonly [R in ExplainedReason]: (wasRunning: boolean, why: string | undefined) => string
} = {
  aborted: (wasRunning) =>
    wasRunning ? 'Aborted while it ran: what it did so far was not undone.' : 'Aborted before it started.',
  refused: (_, why) => `No sub-agent was started: ${why ?? 'it was refused'}.`,
  skipped: (wasRunning) =>
    wasRunning
      ? 'Skipped: the user said something new before the agent was done. What it did so far was not undone.'
      : 'Skipped: the user said something new before this call started. It was not run.',
  denied: (_, why) => denialText(why),
  interrupted: (wasRunning) =>
    wasRunning ? 'Interrupted: it is not known whether it happened.' : 'Interrupted before it started: it was not run.',
}
