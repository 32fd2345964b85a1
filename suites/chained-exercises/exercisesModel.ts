import type { Model, ReplyShape } from '../../src/index.ts'
import { chance } from '../embedded/chance.ts'
import type { SeenRequest } from '../embedded/seenRequest.ts'
import { windowedModel } from '../embedded/windowedModel.ts'
import type { Exercise, Fact } from './exercise.ts'
import { ledger } from './ledger.ts'
import { letters } from './letters.ts'

/** Tokens of the window that the suite's agent says it has. */
export const windowTokens = 12_000

const conversations: Readonly<Record<string, readonly Exercise[]>> = { ledger, letters }

/** Exercises out of a hundred that it gets wrong, whatever it knows. */
const slips = 0.03

/** A model that does the exercises one after another, slips now and then, and makes up what it no longer knows and cannot look up. */
export const exercisesModel = (taskId: string, seed: number): Model => {
  const exercises = conversations[taskId] ?? []
  return windowedModel('embedded:exercises', windowTokens, (seen) => decideExercise(seen, exercises, seed))
}

const call = (text: string, name: string, input: object): ReplyShape => ({ text, toolCalls: [{ name, input }] })

/** Decides the next reply from what the request shows. Pure. */
export function decideExercise(seen: SeenRequest, exercises: readonly Exercise[], seed: number): ReplyShape {
  const number = seen.prompts.length
  const exercise = exercises[number - 1]
  if (exercise === undefined) return { text: 'I do not know that exercise.', stopReason: 'refusal' }
  const { file, asks, needs, solution, slip } = exercise
  const made = seen.calls.filter(({ prompt }) => prompt === number)
  if (made.some(({ name }) => name === 'write_file')) return `${file} is written.`
  if (asks !== undefined && !made.some(({ name }) => name === 'ask_colleague'))
    return call('I ask first.', 'ask_colleague', { question: asks })
  const facts = needs === undefined ? [] : factsOf(seen, needs)
  if (!Array.isArray(facts)) return facts as ReplyShape
  // What is imported is looked at again before it is used.
  const imported = [...solution(facts).matchAll(/from '\.\/([\w-]+\.mjs)'/g)].map(([, path]) => path!)
  const unread = imported.find((path) => !made.some(({ input }) => input['path'] === path))
  if (unread !== undefined) return call('', 'read_file', { path: unread })
  const right = solution(facts)
  const content = chance(seed, 'slip', number) < slips ? right.replace(slip[0], () => slip[1]) : right
  return call('', 'write_file', { path: file, content })
}

/** The fact as far as it is in sight; else a look for it, if there is a way; else what it makes up. */
function factsOf(seen: SeenRequest, { find, query, guess }: Fact): readonly string[] | ReplyShape {
  const found = find.exec(seen.words)
  if (found !== null) return found.slice(1)
  const wasLookedFor = seen.calls.some(({ name, input }) => name === 'recall' && input['query'] === query)
  if (wasLookedFor || !seen.offers('recall')) return guess
  return call('I was told that earlier.', 'recall', { query })
}
