import { defineAgent } from '../../../define/src/defineAgent.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { z } from 'zod'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { createRuntime } from '../../../bridge/src/createRuntime.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { brakedAgents } from '../inspector/brakedAgents.ts'

/** Would act on the page, were it more than text there. */
export const hostile = '</script><script>globalThis.isTaken = true</script><!-- \u2028 "\\'

const picture = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=='

/** Its model replies once what it was given. */
const clerk = () =>
  defineAgent({
    name: 'clerk',
    tools: [
      defineTool({
        name: 'fetch',
        description: 'Gets much.',
        input: z.object({}),
        run: () => [
          { type: 'text', text: Array.from({ length: 900 }, (_, line) => `row ${line} of the table`).join('\n') },
          { type: 'image', mimeType: 'image/png', data: picture },
        ],
      }),
    ],
    artifacts: { overChars: 2_000, overMediaBytes: 10 },
    captureTurnRequests: true,
    model: scriptedModel([
      { toolCalls: [{ name: 'fetch', input: {} }] },
      `# Done\n\nIt is **kept**. ${hostile}`,
      'Yes.',
    ]),
  })

/** Recordings of a team with brakes (`boss-1` and its two) and of an agent that keeps what it fetched (`clerk-1`), with all requests. */
export async function recordedSessions(): Promise<Store> {
  const store: Store = { ...memoryStore(), close: async () => {} }
  const runtime = await createRuntime({ store })
  const client = await runtime.connect({ definitions: [...brakedAgents, clerk()] })
  const boss = await client.spawn('boss', { id: 'boss-1' })
  boss.subscribe((event) => {
    if (event.type === 'approval.requested') void client.agent(event.agentId).decide(event.key, 'approve')
  })
  await boss.prompt('Deploy to both.').result
  const one = await client.spawn('clerk', { id: 'clerk-1' })
  await one.prompt(`Fetch it. ${hostile}`).result
  await one.prompt('Is it there?').result
  await runtime.close()
  return store
}
