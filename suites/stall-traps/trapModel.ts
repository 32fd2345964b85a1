import { isDeepStrictEqual } from 'node:util'
import type { Model, ReplyShape } from '../../src/index.ts'
import { chance, drawn } from '../embedded/chance.ts'
import type { SeenCall, SeenRequest } from '../embedded/seenRequest.ts'
import { windowedModel } from '../embedded/windowedModel.ts'
import { traps, type Call, type Trap } from './traps.ts'

/** State that makes the model look for another way. */
export type Mood =
  /** The first failure does. */
  | 'quick'
  /** The runtime says that it goes in circles. */
  | 'heedsNotes'
  /** Its attempts are out of its sight, and a lesson says what came of them. */
  | 'heedsLessons'
  /** It takes the attempts back itself after three of them, if it can; what is left in its sight it goes on with. */
  | 'goesBack'
  /** Nothing does. */
  | 'stubborn'

const moods: Readonly<Record<Mood, number>> = {
  quick: 0.2,
  heedsNotes: 0.3,
  heedsLessons: 0.25,
  goesBack: 0.15,
  stubborn: 0.1,
}

/** How the model takes a trial: the seed alone decides, so it is the same in all arms. */
export const moodOf = (seed: number): Mood => drawn(chance(seed, 'mood'), moods)

/** A model that falls into the trap of a task, and gets out of it when the request gives it a reason that it heeds. */
export const trapModel = (taskId: string, seed: number): Model => {
  const trap = traps[taskId]
  const mood = moodOf(seed)
  return windowedModel('embedded:traps', 200_000, (seen) =>
    trap === undefined ? unable(`I know nothing of ${taskId}.`) : decideTrap(seen, trap, mood),
  )
}

/** Decides the next reply from what the request shows. Pure. */
export function decideTrap(seen: SeenRequest, trap: Trap, mood: Mood): ReplyShape {
  const { calls } = seen
  const unread = trap.look.find((call) => !calls.some((made) => isCall(made, call)))
  if (unread !== undefined) return say('First I look.', unread)
  const attempts = calls.filter((made) => isCall(made, trap.tempting.at(-1)!) && trap.fails.test(made.text))
  const begun = calls.findIndex((made) => isCall(made, resolved(trap.wayOut[0]!, calls)))
  if (begun >= 0 || hasReason(seen, trap, mood, attempts))
    return leave(calls.slice(Math.max(0, begun)), begun >= 0, trap)
  if (mood === 'goesBack' && attempts.length >= 3 && seen.offers('revert_to_state')) return goBack(seen, trap)
  const last = calls.at(-1)
  const at = last === undefined ? -1 : trap.tempting.findIndex((call) => isCall(last, call))
  const next = trap.tempting[(at + 1) % trap.tempting.length]!
  return say(attempts.length === 0 ? 'I try it.' : 'Once more: it may work this time.', next)
}

function hasReason(
  { notes, calls }: SeenRequest,
  { tempting, fails }: Trap,
  mood: Mood,
  attempts: readonly SeenCall[],
): boolean {
  const isTold = (kind: string): boolean =>
    notes.some((note) => note.kind === kind && tempting.some((call) => note.text.includes(subjectOf(call))))
  // A lesson that came with the result of the call itself.
  const isReminded = calls.some(({ text }) => text.includes('tried before at') && fails.test(text))
  switch (mood) {
    case 'quick':
      return attempts.length > 0
    case 'heedsNotes':
      return isTold('stall') || isTold('lesson') || isReminded
    case 'heedsLessons':
    case 'goesBack':
      return isTold('lesson') || isReminded
    case 'stubborn':
      return false
  }
}

/** The next call of the way out, after those that it made of it. */
function leave(made: readonly SeenCall[], hasBegun: boolean, { wayOut }: Trap): ReplyShape {
  let step = 0
  if (hasBegun)
    for (const call of made) if (step < wayOut.length && isCall(call, resolved(wayOut[step]!, made))) step += 1
  if (step < wayOut.length) return say('There must be another way.', resolved(wayOut[step]!, made))
  const last = made.at(-1)
  return last?.isError === true ? unable(`It does not work: ${last.text}`) : `Done: ${last?.text.split('\n')[0] ?? ''}`
}

function goBack({ calls, promptStep }: SeenRequest, { tempting, lesson }: Trap): ReplyShape {
  const first = calls.findIndex((made) => isCall(made, tempting[0]!))
  const step = calls[first - 1]?.step ?? promptStep
  if (step === undefined) return say('Once more.', tempting[0]!)
  const summary = `${subjectOf(tempting.at(-1)!)}: ${lesson}`
  return say('That leads nowhere.', { name: 'revert_to_state', input: { category: 'failure', step, summary } })
}

/** The script that a call runs, or the file that it writes. */
const subjectOf = ({ input }: Call): string => String(input['path'] ?? input['name'])

const resolved = (call: Trap['wayOut'][number], made: readonly SeenCall[]): Call =>
  typeof call === 'function' ? call(made) : call

const isCall = (made: SeenCall, { name, input }: Call): boolean => {
  if (made.name !== name) return false
  return name === 'write_file'
    ? made.input['path'] === input['path']
    : isDeepStrictEqual({ ...made.input }, { ...input })
}

const say = (text: string, { name, input }: Call): ReplyShape => ({ text, toolCalls: [{ name, input }] })

const unable = (text: string): ReplyShape => ({ text, stopReason: 'refusal' })
