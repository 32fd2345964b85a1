import type { GivenAnswer } from '../protocol/parts/inner/innerDecisions.ts'
import type { Question } from '../protocol/questions.ts'
import type { RecordDraft } from '../protocol/records.ts'
import type { CallState } from './agentTypes.ts'
import type { CallReporter, Reporter } from './reporters.ts'

type DraftOf<T extends RecordDraft['type']> = Extract<RecordDraft, { type: T }>

/** Returns the call as one that works in the background from now on; `undefined` if it does not. */
export function backgroundOf(
  { background: id, callId, name, input, key, nodeId }: CallState,
  { runId, turnIndex }: DraftOf<'tool.end'>,
): CallReporter | undefined {
  return id === undefined ? undefined : { kind: 'call', id, callId, name, input, key, nodeId, runId, turnIndex }
}

/** Changes a call that works in the background. */
export function inBackground(
  state: { reporters: readonly Reporter[] },
  id: string,
  change: (call: CallReporter) => CallReporter,
): void {
  state.reporters = state.reporters.map((one) => (one.kind === 'call' && one.id === id ? change(one) : one))
}

/** Gives a background call the answer to its question. */
export const answeredInBackground = (
  state: { reporters: readonly Reporter[] },
  record: DraftOf<'question.answered'>,
): void =>
  inBackground(state, record.background!, (call) => {
    const { question: _, askedAt: __, ...others } = call
    return { ...others, answers: [...(call.answers ?? []), givenTo(call, record)] }
  })

/** Returns the answer to a question as a call that runs again gets it. */
export function givenTo(
  { key, question }: { readonly key: string; readonly question?: Question | undefined },
  { decision, value, reason }: DraftOf<'question.answered'>,
): GivenAnswer {
  return {
    // A call that it makes asked.
    ...(question === undefined || question.key.startsWith(`${key}/q`) ? {} : { key: question.key }),
    question: question?.question ?? '',
    decision,
    ...(value === undefined ? {} : { value }),
    ...(reason === undefined ? {} : { reason }),
  }
}
