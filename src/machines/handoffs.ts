import type { CallOutput } from './effectTypes.ts'
import type { RecordOf } from '../protocol/records.ts'
import type { Draft } from './draft.ts'

/** Maximum number of handoffs per run, because agents may hand a conversation around in circles. */
const mostHandoffs = 10

type Result = Omit<CallOutput, 'handoff'> & Pick<RecordOf<'tool.end'>, 'handoff'>

const refused = ({ handoff: _, ...output }: CallOutput, why: string): Result => ({
  ...output,
  content: [{ type: 'text', text: `Not handed over: ${why}.` }],
  isError: true,
})

/** Returns the result of a call. The first call of a reply to hand the conversation over does so once the step has ended. */
export function handedOver(draft: Draft, output: CallOutput): Result {
  const plain: Omit<CallOutput, 'handoff'> = output
  if (output.handoff === undefined) return plain
  const { handoff, ...result } = output
  const { handoff: earlier, run } = draft.context
  if (earlier !== null) return refused(output, `this reply hands the conversation over to "${earlier.to}" already`)
  const count = run?.handoffs ?? 0
  if (count >= mostHandoffs)
    return refused(output, `it went from one to another ${count} times since the user spoke. Answer yourself`)
  draft.set({ handoff })
  return { ...result, handoff: handoff.to }
}

/** Hands the conversation over once the step has ended. The other definition answers from then on, with its own parameters. */
export function takeOver(draft: Draft): void {
  const { handoff } = draft.context
  if (handoff !== null) draft.set({ policy: handoff.policy, model: handoff.model, handoff: null })
}
