import type { z } from 'zod'
import type { PrepareInput, TakenMemory } from '../../../machines/effectTypes.ts'
import type { Memory, MemoryRecord } from '../../../protocol/ports/memory.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import type { AgentDefinition } from '../../define/agentDefinition.ts'
import type { FactToKeep } from '../../define/policy.ts'
import type { Cancellation } from '../../timing/cancellation.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import type { MemoryOptions, MemorySettings } from './memoryOptions.ts'

/** The ports of an agent that determine the owner of its memories, and those that keeping a fact needs. */
export interface FactPlace extends Pick<
  AgentPorts,
  'agentId' | 'path' | 'metadata' | 'deps' | 'conversation' | 'clock' | 'redactor' | 'incognito'
> {
  readonly definition: Pick<AgentDefinition, 'name' | 'memory'> & Partial<Pick<AgentDefinition, 'toolSources'>>
}

/** Functions for an agent with a memory, which packages provide and the core lacks. */
interface Remembering {
  schema(): z.ZodType
  /** Reads the option `memory`. @throws RuntimeError `INVALID_DEFINITION` */
  settings(given: Memory | MemoryOptions<never>, label: string): MemorySettings
  tools(memory: MemorySettings): readonly AnyTool[]
  /** Recalls memories for a turn that begins, and stores content that is to be remembered. Rejects only when it is cancelled. */
  use(ports: AgentPorts, input: PrepareInput, cancellation: Cancellation): Promise<TakenMemory | undefined>
  /** Keeps a fact from a conversation. Resolves with `null` if nothing was kept. Rejects as the memory does. */
  keepFact(place: FactPlace, memory: Memory, fact: FactToKeep, hasHeardMore: boolean): Promise<MemoryRecord | null>
}

/** Functions that packages have added. Complete, like `outside`, once `packages/define` has defined an agent. */
export const remembering: Partial<Remembering> = {}
