import { defineAgent, type Model } from '../../src/index.ts'
import { compositions, type Composition, type MemoryPort } from '../../src/policies.ts'
import { type Equal, expectType } from './typeEquality.ts'

declare const model: Model
declare const memory: MemoryPort

// A composition is spread into the options of an agent, which may say more.
const layered = compositions.layered({ model, memory, contextWindow: 100_000 })
expectType<Equal<typeof layered, Composition>>()
defineAgent({ ...layered, name: 'a', model })
defineAgent({ ...layered, name: 'a', model, compaction: { ...layered.compaction, keepRecent: 8 } })
for (const make of Object.values(compositions)) expectType<Equal<ReturnType<typeof make>, Composition>>()

// @ts-expect-error there is no such option
compositions.retrieval({ model })
// @ts-expect-error a share, not a name
compositions.reviewed({ over: 'half' })
// @ts-expect-error a port has methods
compositions.layered({ memory: 'folder' })
// @ts-expect-error a definition made by defineAgent
compositions.hybrid({ reviewer: 'reviewer' })
