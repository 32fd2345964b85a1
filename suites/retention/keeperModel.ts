import type { Model, ReplyShape } from '../../src/index.ts'
import { chance } from '../embedded/chance.ts'
import type { SeenRequest } from '../embedded/seenRequest.ts'
import { windowedModel } from '../embedded/windowedModel.ts'

/** Tokens of the window that the suite's agent says it has. */
export const windowTokens = 24_000

/** Something that is asked for at the end: where it stands, and what would be looked for. */
interface Wanted {
  /** With the flag `g`; of several the one of the newest message counts. A name that was cut short is none. */
  readonly find: RegExp
  readonly query: string
}

interface Question {
  readonly wanted: readonly Wanted[]
  answer(found: readonly string[]): string
}

const lines = (found: readonly string[]): string => found.join('\n')

const shipment = (whose: string): Wanted => ({
  find: new RegExp(`parcel for the ${whose} travels as shipment (SHIP_\\w+)(?![\\w…])`, 'g'),
  query: `parcel ${whose} shipment`,
})

/** By the id of the task. */
const questions: Readonly<Record<string, Question>> = {
  'one-needle': {
    wanted: [{ find: /opens with the code (NY_\w+)(?![\w…])/g, query: 'code gate north yard opens' }],
    answer: lines,
  },
  'many-needles': { wanted: ['museum', 'theatre', 'school'].map(shipment), answer: lines },
  'latest-value': {
    wanted: [{ find: /mooring costs ([\d.]+) euros a night/g, query: 'TARIFF_MOORING lowered' }],
    answer: lines,
  },
  'unusual-name': {
    wanted: [
      { find: /surveyor who comes on the 12th is called (\w+ [\w-]+)(?![\w…])/g, query: 'surveyor called side door' },
    ],
    answer: lines,
  },
  decision: {
    wanted: [{ find: /new winch comes from (KORMORAN_\d)/g, query: 'decided new winch KORMORAN_4' }],
    answer: ([firm]) => `${firm}, as only they deliver before the ice.`,
  },
  'two-hops': {
    wanted: [
      { find: /locker LOCKER_0093 lies with the keeper of (\w+)/g, query: 'key locker LOCKER_0093' },
      { find: /keeper of PIER_SOUTH_2 is (\w+ \w+)(?![\w…])/g, query: 'keeper of PIER_SOUTH_2 this month' },
    ],
    answer: (found) => found.at(-1)!,
  },
  'pinned-rule': {
    wanted: [
      { find: /owes us (1234\.5) euros/g, query: 'INVOICE_5520 owes crane' },
      { find: /(customer is never named)/g, query: 'rules customer never named' },
    ],
    answer: () => 'Dear customer 5520,\nEUR 1234.50 are due for the crane.\nHarbour office, open 8 to 16',
  },
}

/** How the model takes a trial. */
interface Habits {
  /** It writes down names that stand in a message as soon as it has read it. */
  readonly takesNotes: boolean
  /** It does not think of looking up what it no longer sees. */
  readonly isCareless: boolean
  /** It gets the wrong end of whatever it reads. */
  readonly misreads: boolean
}

const habitsOf = (seed: number): Habits => ({
  takesNotes: chance(seed, 'notes') < 0.3,
  isCareless: chance(seed, 'careless') < 0.15,
  misreads: chance(seed, 'misreads') < 0.08,
})

/** A model that reads a mailbox and is asked about it afterwards: it answers what it sees, or can bring back. */
export const keeperModel = (taskId: string, seed: number): Model => {
  const habits = habitsOf(seed)
  return windowedModel('embedded:keeper', windowTokens, (seen) => decideKeeping(seen, taskId, habits))
}

const call = (text: string, name: string, input: object = {}): ReplyShape => ({ text, toolCalls: [{ name, input }] })

/** Decides the next reply from what the request shows. Pure. */
export function decideKeeping(seen: SeenRequest, taskId: string, habits: Habits): ReplyShape {
  const question = questions[taskId]
  if (question !== undefined && seen.prompts.length > 1) return answer(seen, question, habits)
  const last = seen.calls.at(-1)
  const isRuled = seen.calls.some(({ name }) => name === 'house_rules')
  if (taskId === 'pinned-rule' && !isRuled && seen.replies === 0) return call('First the rules.', 'house_rules')
  if (last?.text.startsWith('The mailbox is empty') === true)
    return `There were ${[...seen.words.matchAll(/Message \d+ of (\d+)/g)].at(-1)?.[1]} messages.`
  const overdue = last?.name === 'next_message' ? /Customer (\w+) .*it is overdue/.exec(last.text)?.[1] : undefined
  if (overdue !== undefined && seen.offers('send_reminder') && !isUnwanted(seen, overdue))
    return call(`${overdue} is overdue.`, 'send_reminder', { customer: overdue })
  return call(habits.takesNotes ? noteOf(last?.text ?? '') : '', 'next_message')
}

/** A person has said that this customer is not to be reminded. */
const isUnwanted = ({ calls, words }: SeenRequest, customer: string): boolean =>
  calls.some(
    ({ name, input, text }) => name === 'send_reminder' && input['customer'] === customer && text.startsWith('Denied'),
  ) || words.split('\n').some((line) => line.startsWith('denied by a person: send_reminder') && line.includes(customer))

/** Notes a name in a message, with the sentence that it stands in. */
function noteOf(message: string): string {
  const sentence = message.split(/(?<=[.?!]) /).find((each) => /\b[A-Z]+_\w+/.test(each))
  return sentence === undefined ? '' : `To remember: ${sentence.split('\n').at(-1)}`
}

/** Match in the message with the highest number, or where no message is in sight. */
function newest(find: RegExp, words: string): string | undefined {
  let best: { readonly value: string; readonly message: number } | undefined
  for (const match of words.matchAll(find)) {
    const before = words.slice(Math.max(0, match.index - 6_000), match.index)
    const message = Number(/^[^]*Message (\d+) of/.exec(before)?.[1] ?? 0)
    if (best === undefined || message >= best.message) best = { value: match[1]!, message }
  }
  return best?.value
}

function answer(seen: SeenRequest, { wanted, answer: told }: Question, { isCareless, misreads }: Habits): ReplyShape {
  const found: string[] = []
  for (const { find, query } of wanted) {
    const value = newest(find, seen.words)
    if (value !== undefined) {
      found.push(misreads ? [...value].toReversed().join('') : value)
      continue
    }
    const wasLookedFor = seen.calls.some(({ name, input }) => name === 'recall' && input['query'] === query)
    if (isCareless || wasLookedFor || !seen.offers('recall')) return 'I do not know any more.'
    return call('That is no longer in front of me.', 'recall', { query })
  }
  return misreads ? found.join('\n') : told(found)
}
