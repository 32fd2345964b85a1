import { isDeepStrictEqual } from 'node:util'
import type { Model, ReplyShape } from '../../src/index.ts'
import { chance } from '../embedded/chance.ts'
import type { SeenRequest } from '../embedded/seenRequest.ts'
import { windowedModel } from '../embedded/windowedModel.ts'
import { dialogues, type Call, type Turn } from './dialogues.ts'

/** Tokens of the window that the suite's agent says it has. */
export const windowTokens = 24_000

/** How the model takes a trial. */
interface Habits {
  /** It carries a wish out at once. */
  readonly isHasty: boolean
  /** It overhears corrections. */
  readonly isDeaf: boolean
  /** It does not read again what it no longer sees. */
  readonly isForgetful: boolean
}

const habitsOf = (seed: number): Habits => ({
  isHasty: chance(seed, 'hasty') < 0.12,
  isDeaf: chance(seed, 'deaf') < 0.12,
  isForgetful: chance(seed, 'forgetful') < 0.4,
})

/** A model that serves a customer by the policy, as long as it sees that; in some trials it is hasty, deaf or forgetful. */
export const supportModel = (taskId: string, seed: number): Model => {
  const turns = dialogues[taskId] ?? []
  const habits = habitsOf(seed)
  return windowedModel('embedded:support', windowTokens, (seen) => decideSupport(seen, turns, habits))
}

/** Decides the next reply from what the request shows. Pure. */
export function decideSupport(seen: SeenRequest, turns: readonly Turn[], habits: Habits): ReplyShape {
  const turn = turns[seen.prompts.length - 1]
  if (turn === undefined) return 'Good bye.'
  const knowsPolicy = seen.words.includes('Nothing is carried out on a wish alone')
  const isDecisive = turn.ifForgetful !== undefined && !knowsPolicy
  const made = seen.calls.filter(({ prompt }) => prompt === seen.prompts.length)
  if (isDecisive && !habits.isForgetful)
    return { text: 'What does the policy say?', toolCalls: [{ name: 'read_policy', input: {} }] }
  const next = callsOf(turn, habits, isDecisive).find(
    (call) => !made.some(({ name, input }) => name === call.name && isDeepStrictEqual({ ...input }, { ...call.input })),
  )
  return next === undefined ? turn.says : { toolCalls: [{ name: next.name, input: next.input }] }
}

function callsOf(turn: Turn, { isHasty, isDeaf }: Habits, hasForgotten: boolean): readonly Call[] {
  if (hasForgotten && turn.ifForgetful !== undefined) return turn.ifForgetful
  if (isHasty && turn.ifHasty !== undefined) return turn.ifHasty
  return isDeaf && turn.ifDeaf !== undefined ? turn.ifDeaf : turn.does
}
