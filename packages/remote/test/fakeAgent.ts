import { defineAgent } from '../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../models/src/policyModel.ts'
import type { RemoteAgentEntry } from '../../../src/actors/parts/remote/remoteEntry.ts'
import type { RemoteAgentSpec, RemoteAnswer, RemoteHost, RemoteTask } from '../src/remoteAgent.ts'
import { remoteAgent } from '../src/remoteTool.ts'
import { textOf } from '../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'

/** An agent elsewhere that does what a function says. */
export const elsewhere = (
  run: (task: RemoteTask, host: RemoteHost) => Promise<RemoteAnswer>,
  options: Partial<RemoteAgentSpec> = {},
): RemoteAgentEntry =>
  remoteAgent({
    protocol: 'fake',
    name: 'codex',
    description: 'Changes code.',
    restarts: { restart: 'transient', maxRestarts: 3, windowMs: 60_000, backoffMs: 10 },
    asks: ['codex_edit', 'codex_execute'],
    run,
    ...options,
  })

/** An agent that has it do one task, and says what came of it. */
export const callerOf = (entry: RemoteAgentEntry, options: Partial<AgentOptions> = {}): AgentDefinition =>
  defineAgent({
    name: 'caller',
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'toolResult'
        ? `It said: ${textOf(last.content)}`
        : { toolCalls: [{ name: entry.name, input: { task: 'Fix the clock' } }] }
    }),
    agents: [entry],
    ...options,
  })

export const recordsOf = <T extends LogRecord['type']>(log: readonly LogRecord[], type: T): RecordOf<T>[] =>
  log.filter((record): record is RecordOf<T> => record.type === type)
