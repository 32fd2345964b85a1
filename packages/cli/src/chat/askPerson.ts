import { withoutControls } from '../../../charts/src/plainText.ts'
import type { Decision } from '../../../../src/protocol/bridge/commands.ts'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import type { Pending, PendingOf } from '../../../../src/protocol/runs/pending.ts'
import { formOf, readTyped, type QuestionForm } from '../../../../src/protocol/bridge/questionForm.ts'
import type { MenuItem } from '../terminal/menu.ts'
import type { Screen } from '../terminal/screen.ts'

/** Questions and calls that a person at a terminal may answer in words; an approval, which takes yes or no, is not one of them. */
export type Askable = PendingOf<'question' | 'call'>

export const isAskable = (pending: Pending): pending is Askable => pending.kind !== 'approval'

/** Describes a waiting question or call in one line. */
export const waitingLine = (pending: Askable): string =>
  pending.kind === 'question'
    ? `${pending.name} asks: ${pending.question}`
    : `${pending.name} ${JSON.stringify(pending.input)} waits for a client to run it`

/** Maximum number of choices shown as a menu; the values of a longer list are named in a line. */
const mostChoices = 20

const textForm: QuestionForm = { type: 'text' }

/** Returns a hint on how to type the answer. */
function hint(form: QuestionForm): string {
  switch (form.type) {
    case 'boolean':
      return 'y = yes, n = no'
    case 'choice':
      return form.values.map((value, index) => `${index + 1} = ${value}`).join(', ')
    case 'number':
      return 'a number'
    case 'text':
      return 'your answer'
    case 'object':
      return `JSON with ${form.fields.map(({ name, isRequired }) => (isRequired ? name : `${name} (optional)`)).join(', ')}`
    case 'json':
      return 'JSON'
  }
}

/** The answers that can be chosen; empty: any may be typed. Pure. */
export function answersOf(form: QuestionForm): readonly MenuItem[] {
  const none = { typed: '-', label: 'no answer' }
  if (form.type === 'boolean') return [{ typed: 'y', label: 'yes' }, { typed: 'n', label: 'no' }, none]
  if (form.type !== 'choice' || form.values.length > mostChoices) return []
  return [...form.values.map((value, index) => ({ typed: typedFor(form.values, index), label: String(value) })), none]
}

/** The number of a choice, unless another choice is called so. */
function typedFor(values: readonly (string | number)[], index: number): string {
  const number = String(index + 1)
  return values.some((value) => String(value) === number) ? String(values[index]) : number
}

/** A line that refuses to answer, with or without a reason. */
const refusal = /^-(?:\s+(.*))?$/s

/** Reads a typed line as a decision; `problem` says why it decides nothing. Pure. */
export function readAnswerLine(
  pending: Askable,
  said: string,
): { readonly decision: Decision; readonly reason?: string } | { readonly problem: string } {
  const [isRefusal, reason] = refusal.exec(said.trim()) ?? []
  if (isRefusal !== undefined) return reason === undefined ? { decision: 'deny' } : { decision: 'deny', reason }
  if (pending.kind === 'call') return { decision: { result: said } }
  if (said.trim() === '') return { problem: 'no input' }
  const read = readTyped(formOf(pending.schema), said)
  return 'problem' in read ? read : { decision: { value: read.value } }
}

/**
 * Asks a person until an answer fits or somebody else has given one; `decide` refuses an answer that does not fit. Without a person, when the screen
 * is closed, it keeps waiting.
 */
export async function askPerson(
  screen: Screen,
  pending: Askable,
  whose: string,
  signal: AbortSignal,
  decide: (decision: Decision, reason?: string) => Promise<void>,
): Promise<void> {
  const form = pending.kind === 'question' ? formOf(pending.schema) : textForm
  const problem = pending.kind === 'question' ? pending.problem : undefined
  const menu = answersOf(form)
  let wrong = problem
  if (!screen.isAtLineStart) screen.write('\n')
  screen.write(`  ? ${withoutControls(waitingLine(pending))}${whose}\n`)
  while (!signal.aborted) {
    if (wrong !== undefined) screen.write(`  (${withoutControls(wrong)})\n`)
    const prompt = menu.length > 0 ? '  your answer: ' : `  ${withoutControls(hint(form))}; - for no answer: `
    const said = await screen.ask(prompt, signal, menu)
    if (said === undefined) return
    const read = readAnswerLine(pending, said)
    wrong = 'problem' in read ? read.problem : await refused(() => decide(read.decision, read.reason))
    if (wrong === undefined) return
  }
}

/** Returns the reason why an answer was not accepted; `undefined` if it was. Rejects for any other reason. */
async function refused(decide: () => Promise<void>): Promise<string | undefined> {
  try {
    await decide()
    return undefined
  } catch (thrown) {
    if (hasCode(thrown, 'ANSWER_INVALID')) return messageOf(thrown)
    throw thrown
  }
}
