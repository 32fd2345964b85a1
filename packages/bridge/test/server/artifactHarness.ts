import { defineAgent } from '../../../define/src/defineAgent.ts'
import type { Artifact } from '../../../../src/protocol/artifacts/artifact.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { scriptedModel } from '../../../evaluation/src/testing/scriptedModel.ts'
import { calls, tool } from '../../../../test/support/agentHarness.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { serveAgents } from './bridgeHarness.ts'

/** Result that the agent's tool returned. */
export const page = '<script>alert(1)</script>'.repeat(100)

/** A served agent whose tool returned a page of HTML, more than is shown, and what its result keeps of it. */
export async function serveArtifact(context: CaseContext, options: object = {}) {
  const store = memoryStore()
  const reader = defineAgent({
    name: 'reader',
    model: scriptedModel([calls('a', 'fetch'), 'done']),
    tools: [tool('fetch', () => page)],
    artifacts: { overChars: 1_000 },
  })
  const { runtime, server } = await serveAgents(context, [reader], { ...options, runtime: { store } })
  const agent = await runtime.spawn(reader, { id: 'a1' })
  await agent.prompt('go').result
  const artifacts: Artifact[] = []
  for await (const record of store.read('a1'))
    if (record.type === 'tool.end') artifacts.push(...(record.message.artifacts ?? []))
  return { store, artifact: artifacts[0]!, origin: `http://127.0.0.1:${server.port}` }
}
