import type { ToolSpec } from '../../../../src/index.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { codingWork } from './codingWork.ts'
import { browserTools, chatTools, codingTools, terminalTools } from './frame.ts'
import { type KindName, kinds, type LongKind, type SeedSet, seedSets, shortMix } from './kinds.ts'
import { browsingWork, chatWork } from './otherWork.ts'
import { Random } from './random.ts'
import { SessionWriter } from './sessionWriter.ts'

const ownTools = (name: KindName): readonly ToolSpec[] => {
  if (name === 'terminal') return terminalTools
  const { type } = kinds[name].work
  return type === 'coding' ? codingTools : type === 'chat' ? chatTools : browserTools
}

/**
 * A made-up session of a kind, the same for the same seed: with the frame, lengths, pauses, sizes of results and late uses of names of
 * recorded ones. `replies`: at least so many, in place of a length of the kind.
 */
export function generateSession(name: KindName, seed: number, replies?: number): RecordedSession {
  const random = new Random(seed)
  const kind = kinds[name]
  const length = replies ?? random.between(...random.weighted(kind.lengths).requests)
  const writer = new SessionWriter(random, kind, ownTools(name))
  if (kind.work.type === 'coding') codingWork(writer, kind.work, length, name === 'terminal')
  else if (kind.work.type === 'chat') chatWork(writer, kind.work, length)
  else browsingWork(writer, kind.work, length)
  return writer.finish(replies === undefined ? `${name}-${seed}` : `${name}-${replies}-${seed}`)
}

/** So many sessions of 50 requests and more of one kind, of a set of seeds. */
export const longSessions = (name: LongKind, seeds: SeedSet, count: number): RecordedSession[] =>
  Array.from({ length: count }, (_, index) => generateSession(name, seedSets[seeds] + index))

/** So many runs of fewer than 30 requests, of all kinds. */
export const shortSessions = (seeds: SeedSet, count: number): RecordedSession[] => {
  const random = new Random(seedSets[seeds])
  return Array.from({ length: count }, (_, index) =>
    generateSession(random.weighted(shortMix).name, seedSets[seeds] + index),
  )
}
