import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { isAgentDefinition, noDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { z } from 'zod'
import { errorInfo, RuntimeError, toErrorInfo, type ErrorInfo } from '../../../src/protocol/errors.ts'
import type { LogEntry } from '../../../src/protocol/ports/logPages.ts'
import { metadataSchema, type Metadata } from '../../../src/protocol/metadata.ts'
import { optionsCheck } from '../../../src/protocol/checks/optionsCheck.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import { allLogs, pagesOf } from '../../stores/src/logPages.ts'
import { firstRecord } from '../../../src/log/readHistory.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'
import { standingOf } from './logStanding.ts'
import type { AgentRuntime } from '../../../src/runtime/agentRuntime.ts'

/** An agent in a store, as passed to the application's functions. */
interface Stored {
  readonly id: string
  /** Name of the agent's definition. */
  readonly definition: string
  /** Metadata given to the agent when it was spawned, such as its owner. */
  readonly metadata?: Metadata
}

/** Options of `runtime.resumeAll`. */
export interface ResumeAllOptions {
  /** Definitions of the agents, found by name. */
  readonly definitions: readonly AgentDefinition[]
  /** Selects agents: metadata that must match, or a function that returns true for an unfinished agent. Default: all. */
  readonly where?: Metadata | ((agent: Stored) => boolean | Promise<boolean>)
  /** Returns the `deps` of each agent. Without it, agents whose definitions need `deps` are left alone. Default: none. */
  readonly deps?: (agent: Stored) => unknown
  /** Number of agents that are opened at a time. Default: 8. */
  readonly concurrency?: number
}

/** The result of `runtime.resumeAll`. */
export interface ResumedAll {
  /** Agents that continue here, each the root of its tree. */
  readonly resumed: readonly Agent[]
  /** Unfinished agents that do not continue here. */
  readonly left: readonly {
    readonly agentId: string
    readonly definition: string
    /** Reason: `AGENT_ELSEWHERE` (another process has it), `DEFINITION_MISSING`, `DEPS_MISSING`, `LOG_CORRUPT` or another `runtime.resume` error. */
    readonly error: ErrorInfo
  }[]
}

const check = optionsCheck(
  { definitions: () => z.array(z.custom<AgentDefinition>(isAgentDefinition, { error: noDefinition() })) },
  {
    where: () =>
      z.union([metadataSchema(), z.custom((value) => typeof value === 'function')], 'give metadata, or a function'),
    deps: () => z.custom((value) => typeof value === 'function', 'give a function'),
    concurrency: () => z.int().positive(),
  },
)

/** Runtime and store in which agents are resumed. */
interface Parts {
  readonly runtime: Pick<AgentRuntime, 'agent' | 'resume'>
  readonly store: Store
}

/**
 * Continues the runs that were unfinished when the last process ended. Reads only the checkpoint of each log and the records after it.
 * @throws RuntimeError `INVALID_OPTION`; `STORE_READ_FAILED` when the store cannot list its logs
 */
export async function resumeAll({ runtime, store }: Parts, options: ResumeAllOptions): Promise<ResumedAll> {
  const wrong = check(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `resumeAll: ${wrong}.`)
  const { definitions, where = {}, deps, concurrency = 8 } = options
  const byName = new Map(definitions.map((definition) => [definition.name, definition]))
  const resumed: Agent[] = []
  const left: ResumedAll['left'][number][] = []
  const isWanted = typeof where === 'function' ? where : undefined

  const goOn = async ({ id, origin }: LogEntry): Promise<void> => {
    if (runtime.agent(id) !== undefined) return
    let name = origin?.definition ?? ''
    try {
      // Machines are woken.
      if (origin === undefined && (await firstRecord(store, id))?.type === 'host.created') return
      const { standing, isReporting, definition, metadata } = await standingOf(store, id)
      name = definition
      if (standing !== 'underWay' || isReporting) return
      const stored = { id, definition, ...(metadata === undefined ? {} : { metadata }) }
      if (isWanted !== undefined && !(await isWanted(stored))) return
      const known = byName.get(definition)
      if (known === undefined) {
        left.push({ agentId: id, definition, error: missing(id, definition, byName) })
        return
      }
      const agent = await runtime.resume(id, known, deps === undefined ? {} : { deps: await deps(stored) })
      resumed.push(agent)
    } catch (thrown) {
      // Somebody asked for it meanwhile.
      if (runtime.agent(id) === undefined)
        left.push({ agentId: id, definition: name, error: toErrorInfo(thrown, 'INTERNAL') })
    }
  }

  const logs = allLogs(pagesOf(store), {
    parent: null,
    ...(isWanted === undefined ? { metadata: where as Metadata } : {}),
  })
  const worker = async (): Promise<void> => {
    for (;;) {
      const { done, value } = await logs.next()
      if (done === true) return
      await goOn(value)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
  return { resumed, left }
}

function missing(id: string, definition: string, byName: ReadonlyMap<string, unknown>): ErrorInfo {
  const there = byName.size === 0 ? 'none was given' : `given: ${[...byName.keys()].join(', ')}`
  return errorInfo('DEFINITION_MISSING', `Agent "${id}" is of definition ${JSON.stringify(definition)} (${there}).`)
}
