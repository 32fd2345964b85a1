import type { Client } from '../../../packages/bridge/src/client/client.ts'
import type { RemoteAgent } from '../../../packages/bridge/src/client/remoteAgent.ts'
import { sortTask } from '../../../packages/demo/src/sortTask.ts'
import { createRuntime } from '../../../packages/bridge/src/createRuntime.ts'
import { defineSorter } from '../../../packages/page/src/offline/demo/defineSorter.ts'
import { Steps } from '../../../packages/page/src/offline/demo/steps.ts'
import type { Agent } from '../../../src/runtime/agents/agent.ts'

/** The sort demo in this page: `escapement demo sort`, with files and processes of the page. */
export interface PageSorter {
  readonly client: Client
  /** As a client has it. */
  readonly agent: RemoteAgent
  /** The same one in its runtime, to draw. */
  readonly local: Agent
  readonly steps: Steps
  readonly task: string
  close(): Promise<void>
}

/** Starts a runtime, connects to it, and has an agent ready. */
export async function openSorter({ timeLimitMs }: { readonly timeLimitMs: number }): Promise<PageSorter> {
  const steps = new Steps()
  const runtime = await createRuntime()
  const client = await runtime.connect({ definitions: [defineSorter({ steps })] })
  const agent = await client.spawn('sorter', { id: 'sorter' })
  return {
    client,
    agent,
    local: runtime.agent(agent.id)!,
    steps,
    task: sortTask(timeLimitMs),
    async close() {
      client.close()
      await runtime.close()
    },
  }
}
