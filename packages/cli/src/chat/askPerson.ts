import { oneLine, withoutControls } from '../../../charts/src/plainText.ts'
import type { Decision } from '../../../../src/protocol/bridge/commands.ts'
import { hasCode, withoutAdvice } from '../../../../src/protocol/errors.ts'
import type { Pending, PendingOf } from '../../../../src/protocol/runs/pending.ts'
import {
  formOf,
  limitWords,
  readTyped,
  refusedFields,
  type QuestionField,
  type QuestionForm,
} from '../../../bridge/src/client/questionForm.ts'
import type { MenuItem } from '../terminal/menu.ts'
import type { Colours } from '../terminal/colours.ts'
import type { FieldTexts } from '../terminal/input/form.ts'
import type { Screen } from '../terminal/screen.ts'

/** Questions and calls that a person at a terminal may answer in words. Approvals, which take yes or no, are not among them. */
export type Askable = PendingOf<'question' | 'call'>

export const isAskable = (pending: Pending): pending is Askable => pending.kind !== 'approval'

/** Describes a waiting question or call in one line. */
export const waitingLine = (pending: Askable): string =>
  pending.kind === 'question'
    ? `${pending.name} asks: ${pending.question}`
    : `${pending.name} ${JSON.stringify(pending.input)} waits for a client to run it`

/** Maximum number of choices shown as a menu. A longer list is shown as one line of values. */
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
      return limitWords(form)
    case 'text':
      return ['your answer', limitWords(form)].filter((words) => words !== '').join(', ')
    case 'object':
      return `JSON with ${form.fields.map(({ name, isRequired }) => (isRequired ? name : `${name} (optional)`)).join(', ')}`
    case 'json':
      return 'JSON'
  }
}

/** Returns the answers that can be chosen; empty if any may be typed. Pure. */
export function answersOf(form: QuestionForm): readonly MenuItem[] {
  const none = { typed: '-', label: 'no answer' }
  if (form.type === 'boolean') return [{ typed: 'y', label: 'yes' }, { typed: 'n', label: 'no' }, none]
  if (form.type !== 'choice' || form.values.length > mostChoices) return []
  return [...form.values.map((value, index) => ({ typed: typedFor(form.values, index), label: String(value) })), none]
}

/** Returns the number to type for a choice, or its value if another choice has that number as its value. */
function typedFor(values: readonly (string | number)[], index: number): string {
  const number = String(index + 1)
  return values.some((value) => String(value) === number) ? String(values[index]) : number
}

/** Matches a line that declines to answer, with or without a reason. */
const refusal = /^-(?:\s+(.*))?$/s

/** Reads a typed line as a decision. `problem`: the reason why it decides nothing. Pure. */
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

type Decide = (decision: Decision, reason?: string) => Promise<void>

/** Returns the schema's description of the answer. */
const descriptionOf = (pending: Askable): string => {
  const said = pending.kind === 'question' ? pending.schema['description'] : undefined
  return typeof said === 'string' ? oneLine(said) : ''
}

/**
 * Asks a person until an answer is accepted or somebody else has given one. `decide` rejects an answer that does not fit. Without a person, or
 * when the screen is closed, it keeps waiting.
 */
export async function askPerson(
  screen: Screen,
  pending: Askable,
  { whose, colours }: { readonly whose: string; readonly colours: Colours },
  signal: AbortSignal,
  decide: Decide,
): Promise<void> {
  const form = pending.kind === 'question' ? formOf(pending.schema) : textForm
  const menu = answersOf(form)
  let wrong = pending.kind === 'question' ? pending.problem : undefined
  if (!screen.isAtLineStart) screen.write('\n')
  screen.write(`  ? ${withoutControls(waitingLine(pending))}${whose}\n`)
  const about = descriptionOf(pending)
  if (about !== '') screen.write(`    ${colours.dim(about)}\n`)
  if (form.type === 'object' && screen.fillIn !== undefined)
    return askForm({ screen, pending, signal, decide, wrong }, form.fields)
  while (!signal.aborted) {
    if (wrong !== undefined) screen.write(`  (${withoutControls(wrong)})\n`)
    const prompt = menu.length > 0 ? '  your answer: ' : `  ${withoutControls(hint(form))}; - for no answer: `
    const said = await screen.ask(prompt, signal, menu)
    if (said === undefined) return
    const read = readAnswerLine(pending, said)
    wrong = 'problem' in read ? read.problem : await refused(pending, () => decide(read.decision, read.reason))
    if (wrong === undefined) return
  }
}

interface Asking {
  readonly screen: Pick<Screen, 'fillIn' | 'write'>
  readonly pending: Askable
  readonly signal: AbortSignal
  readonly decide: Decide
  readonly wrong: string | undefined
}

/** Lets a person fill in the fields of an object until the answer is accepted. */
async function askForm(
  { screen, pending, signal, decide, wrong }: Asking,
  fields: readonly QuestionField[],
): Promise<void> {
  let problem = wrong
  let texts: FieldTexts = {}
  while (!signal.aborted) {
    const problems = problem === undefined ? {} : refusedFields(fields, problem)
    if (problem !== undefined && Object.keys(problems).length === 0) screen.write(`  (${withoutControls(problem)})\n`)
    const filled = await screen.fillIn!({ fields, texts, problems }, signal)
    if (filled === undefined) return
    if ('declined' in filled) {
      screen.write(`    no answer${filled.declined === '' ? '' : `: ${oneLine(filled.declined)}`}\n`)
      return decide('deny', filled.declined === '' ? undefined : filled.declined)
    }
    texts = filled.texts
    const { value } = filled
    screen.write(filledLines(fields, texts))
    problem = await refused(pending, () => decide({ value }))
    if (problem === undefined) return
  }
}

/** Returns the lines of the answer that stay on the screen. */
const filledLines = (fields: readonly QuestionField[], texts: FieldTexts): string =>
  fields
    .filter(({ name }) => (texts[name] ?? '') !== '')
    .map(({ name }) => `    ${oneLine(name)}: ${oneLine(texts[name]!)}\n`)
    .join('')

/** Returns the reason why an answer was not accepted, without the question; `undefined` if it was accepted. Rejects for any other error. */
async function refused(pending: Askable, decide: () => Promise<void>): Promise<string | undefined> {
  try {
    await decide()
    return undefined
  } catch (thrown) {
    if (!hasCode(thrown, 'ANSWER_INVALID')) throw thrown
    const said = withoutAdvice(thrown)
    const mark = pending.kind === 'question' ? ` asks ${JSON.stringify(pending.question)}: ` : ''
    const at = mark === '' ? -1 : said.indexOf(mark)
    return at === -1 ? said : said.slice(at + mark.length)
  }
}
