import { mkdtempSync, readFileSync, existsSync, rmSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../../src/actors/define/defineAgent.ts'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { LogRecord, RecordOf } from '../../../../src/protocol/records.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import { logOf, until } from '../../../../test/support/lives.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import { acpAgent, type AcpAgentOptions } from '../../src/client/acpAgent.ts'

export const script = join(import.meta.dirname, 'foreignAgent.ts')

/** A folder that is removed at the end of the case. */
export function temporary({ cleanup }: CaseContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-acp-')))
  cleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

/** The foreign agent of the tests; with a folder for its sessions it can load them. */
export const foreign = (options: Partial<AcpAgentOptions> = {}, sessions?: string): ReturnType<typeof acpAgent> =>
  acpAgent({
    name: 'codex',
    description: 'Changes code.',
    command: process.execPath,
    args: ['--disable-warning=ExperimentalWarning', script, ...(sessions === undefined ? [] : [sessions])],
    backoffMs: 1,
    ...options,
  })

/** An agent that gives the foreign one a task, and says what came of it. */
export const callerOf = (
  entry: ReturnType<typeof acpAgent>,
  task: string,
  options: Partial<AgentOptions> = {},
): AgentDefinition =>
  defineAgent({
    name: 'caller',
    model: policyModel(({ messages }) => {
      const last = messages.at(-1)!
      return last.role === 'toolResult' ? textOf(last.content) : { toolCalls: [{ name: entry.name, input: { task } }] }
    }),
    agents: [entry],
    ...options,
  })

export interface Called {
  readonly agent: Agent
  /** Resolves with what the caller says once its run is over. */
  said(): Promise<string>
  log(): Promise<readonly LogRecord[]>
}

/** Has the foreign agent do a task, each line of which it carries out. */
export async function call(context: CaseContext, definition: AgentDefinition): Promise<Called> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  context.cleanup(() => runtime.close())
  const agent = await runtime.spawn(definition, { id: 'a1' })
  const over = until(agent, ({ type }) => type === 'run.end')
  agent.prompt('go')
  return {
    agent,
    said: async () => {
      await over
      return textOf(agent.conversation.trunk().at(-1)!.message.content)
    },
    log: async () => {
      await agent.durable()
      return logOf(store, 'a1')
    },
  }
}

/** Has a caller take all of it back, and returns what came of that. */
export async function takeBack({ agent, log }: Called): Promise<RecordOf<'undo.end'>> {
  const over = until(agent, ({ type }) => type === 'undo.end')
  agent.revert('n1', { category: 'failure', summary: 'wrong', undo: true })
  await over
  return (await log()).find((record): record is RecordOf<'undo.end'> => record.type === 'undo.end')!
}

/** The lines that the foreign agent noted. */
export const did = (folder: string): string[] => {
  const file = join(folder, 'did')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}
