import { defineAgent, type Model } from '../../src/index.ts'
import type { Memory } from '../../src/memory.ts'
import { compositions, keep, type Composition, type MemoryItem } from '../../src/policies.ts'
import { type Equal, expectType } from './typeEquality.ts'

declare const model: Model
declare const memory: Memory

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
// @ts-expect-error a memory has methods
compositions.layered({ memory: 'folder' })
// @ts-expect-error a definition made by defineAgent
compositions.hybrid({ reviewer: 'reviewer' })

const extract = (): readonly MemoryItem[] => [{ text: 'the lexer is fine', steps: ['n2'] }]
keep.memory(memory, { scope: 'workspace:shop', extract })
// @ts-expect-error a scope says whose it is
keep.memory(memory, { scope: 'shop' })
// @ts-expect-error the whole contract of a memory
keep.memory({ put: async () => {}, search: async () => [] })
