// A clerk that releases packages: a build in the background, a script in place of many calls, rules for what needs no question, and a checklist.
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { codeTool } from '../../../src/code.ts'
import { createRuntime, defineAgent, defineTool, fileStore, type Model, type BridgeServer } from '../../../src/index.ts'

export const Checklist = z.object({ packages: z.record(z.string(), z.enum(['waiting', 'tested', 'published'])) })

const packages = ['clock', 'spring', 'wheel']

const build = defineTool({
  name: 'build',
  description: 'Builds everything. Takes a while.',
  input: z.object({}),
  effects: 'idempotent',
  background: true,
  run: async (_, { signal }) => {
    await wait(2_000, undefined, { signal })
    return `${packages.length} packages are built`
  },
})

const test = defineTool({
  name: 'test',
  description: 'Tests a package.',
  input: z.object({ name: z.string() }),
  output: z.object({ passed: z.boolean() }),
  effects: 'idempotent',
  run: ({ name }, { state }) => {
    state.of(Checklist).update((list) => {
      list.packages[name] = 'tested'
    })
    return { passed: true }
  },
})

const publish = defineTool({
  name: 'publish',
  description: 'Publishes a package for everybody.',
  input: z.object({ name: z.string() }),
  effects: 'irreversible',
  subject: ({ name }) => ({ text: name }),
  run: ({ name }, { state }) => {
    state.of(Checklist).update((list) => {
      list.packages[name] = 'published'
    })
    return `${name} is published`
  },
})

/** Serves the clerk on a port; what an earlier process left goes on. */
export async function serveClerk(folder: string, port: number, token: string, model: Model): Promise<BridgeServer> {
  const clerk = defineAgent({
    name: 'clerk',
    instructions: 'You release packages.',
    model,
    tools: [build, codeTool([test, publish], { only: true })],
    state: { schema: Checklist, initial: { packages: {} } },
    permissions: { ask: ['publish'] },
  })
  const runtime = await createRuntime({ store: fileStore(folder) })
  await runtime.resumeAll({ definitions: [clerk] })
  return runtime.serve({ definitions: [clerk], port, tokens: { [token]: 'admin' } })
}
