/**
 * Makes docs/pictures: the charts of an agent with one brake open, in short and in full, of the supervisor and of a connection to a server, a conversation that gave up a dead end,
 * and the layers of the source.
 * `npm run docs` writes them; a test keeps them equal.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { defineAgent } from '../src/actors/define/defineAgent.ts'
import { defineTool } from '../src/actors/tools/defineTool.ts'
import { scriptedModel } from '../packages/evaluation/src/testing/scriptedModel.ts'
import { policyModel } from '../packages/models/src/policyModel.ts'
import { supervisorMachine } from '../src/machines/supervisorMachine.ts'
import { chart } from '../packages/charts/src/chart.ts'
import { conversationGraph } from '../packages/charts/src/conversationGraph.ts'
import { createRuntime } from '../packages/bridge/src/createRuntime.ts'
import { mcpConnectionMachine } from '../packages/mcp/src/client/connectionMachine.ts'
import { drawLayers } from './layersPicture.ts'

const agent = defineAgent({ name: 'coder', model: policyModel(() => ''), braking: { revert: true } })

/** A conversation in which a dead end was given up. */
async function conversation(format: 'svg' | 'mermaid'): Promise<string> {
  const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] })
  const model = scriptedModel([
    { text: 'A cache in memory is quickest to write.', ...call('edit_file', { path: 'cache.ts' }) },
    { text: 'And how fast is it?', ...call('run_command', { command: 'npm run bench' }) },
    call('revert_to_state', {
      step: 'n1',
      category: 'failure',
      summary: 'a cache in memory is cold after every deploy: the first minute misses all',
    }),
    { text: 'The table can hold it.', ...call('edit_file', { path: 'table.ts' }) },
    'Done: answers are kept in the table, and survive a deploy.',
  ])
  const tools = [
    defineTool({
      name: 'edit_file',
      description: 'Edits.',
      input: z.object({ path: z.string() }),
      run: ({ path }) => `${path}: 1 replacement`,
    }),
    defineTool({
      name: 'run_command',
      description: 'Measures.',
      input: z.object({ command: z.string() }),
      run: () => 'p99 after a deploy: 840 ms (aim: 50 ms)',
    }),
  ]
  const runtime = await createRuntime({ newId: () => 'x' })
  const caching = await runtime.spawn(defineAgent({ name: 'coder', model, tools, braking: { revert: true } }))
  await caching.prompt('Make the first page fast.').result
  const picture = conversationGraph(caching, { format })
  await runtime.close()
  return picture
}

/** The pictures by file name, each with what makes it. */
export const pictures: Readonly<Record<string, () => string | Promise<string>>> = {
  'agent.svg': () => chart(agent, { format: 'svg' }),
  'agent.mmd': () => chart(agent, { detail: 'overview' }),
  'agentFull.svg': () => chart(agent, { format: 'svg', detail: 'full' }),
  'conversation.svg': () => conversation('svg'),
  'layers.svg': drawLayers,
  'mcpConnection.svg': () => chart(mcpConnectionMachine, { format: 'svg' }),
  'supervisor.svg': () => chart(supervisorMachine, { format: 'svg' }),
}

if (import.meta.main) {
  const folder = join(import.meta.dirname, '..', 'docs', 'pictures')
  await mkdir(folder, { recursive: true })
  for (const [name, draw] of Object.entries(pictures)) await writeFile(join(folder, name), await draw())
}
