import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import type { Runtime } from '../../../../bridge/src/createRuntime.ts'
import { calls, held, paced, pricing } from '../console/sceneModel.ts'

/** An agent that prepares a release with three others, and waits for a person in two of them. */
export interface Release {
  readonly definitions: readonly AgentDefinition[]
  /** Starts it; resolves once both wait. */
  begin(runtime: Runtime): Promise<void>
}

/** Work that takes a while, so that bars can be seen. */
const works = (ms: number, signal: AbortSignal): Promise<void> => pause(ms, undefined, { signal })

export function release(): Release {
  const fetchPage = defineTool({
    name: 'fetch_page',
    description: 'Reads a page.',
    input: z.object({ url: z.string() }),
    effects: 'none',
    run: async ({ url }, { signal }) => {
      await works(url.length * 12, signal)
      if (url.endsWith('/timers')) throw new Error('404 Not Found')
      return `The page ${url} says: dates that are equal keep the order in which they were added.`
    },
  })
  const runCommand = defineTool({
    name: 'run_command',
    description: 'Runs a command.',
    input: z.object({ command: z.string() }),
    run: async ({ command }, { signal }) => {
      await works(600, signal)
      return `exit code 0\n218 tests passed (${command})`
    },
  })
  const editFile = defineTool({
    name: 'edit_file',
    description: 'Edits a file.',
    input: z.object({ path: z.string(), oldText: z.string(), newText: z.string() }),
    needsApproval: true,
    run: ({ path }) => `Edited ${path}.`,
  })
  const deploy = defineTool({
    name: 'deploy',
    description: 'Brings a version into an environment.',
    input: z.object({ to: z.string(), version: z.string() }),
    needsApproval: true,
    run: ({ to, version }) => `${version} is in ${to}.`,
  })
  const researcher = defineAgent({
    name: 'researcher',
    description: 'Finds things out.',
    pricing,
    tools: [fetchPage],
    model: paced(held, ({ done }) => {
      const read = (page: string) => ({ name: 'fetch_page', input: { url: `https://example.com/docs/${page}` } })
      if (done === 0) return calls('I read what there is.', read('dates'), read('timers'))
      return done === 2 ? calls('One more.', read('changelog/2.4')) : 'Equal dates keep their order since 2.4.'
    }),
  })
  const coder = defineAgent({
    name: 'coder',
    description: 'Changes code.',
    pricing,
    captureTurnRequests: true,
    tools: [runCommand, editFile],
    model: paced(held, ({ done }) => {
      if (done === 0) return calls('First the tests.', { name: 'run_command', input: { command: 'npm test' } })
      const oldText = 'dates.sort((a, b) => a.at - b.at)\nreturn dates'
      const newText = 'return dates.toSorted((a, b) => a.at - b.at || a.index - b.index)'
      const input = { path: 'src/scheduler.ts', oldText, newText }
      return done === 1 ? calls('Equal dates lose their order here.', { name: 'edit_file', input }) : 'Mended.'
    }),
  })
  const releaser = defineAgent({
    name: 'releaser',
    description: 'Brings versions into production.',
    pricing,
    tools: [runCommand, deploy],
    model: paced(held, ({ done }) => {
      if (done === 0) return calls('I build it.', { name: 'run_command', input: { command: 'npm run build' } })
      if (done > 1) return 'It is there.'
      return calls('It is built.', { name: 'deploy', input: { to: 'staging', version: '2.4.1' } })
    }),
  })
  const lead = defineAgent({
    name: 'lead',
    description: 'Leads releases.',
    pricing,
    captureTurnRequests: true,
    agents: [researcher, coder, releaser],
    model: paced(held, ({ done }) => {
      if (done > 1) return 'Version 2.4.1 is out.'
      if (done === 1)
        return calls(
          'It is known what is wrong. Two can go on side by side.',
          { name: 'coder', input: { task: 'Keep the order of equal dates in the scheduler' } },
          { name: 'releaser', input: { task: 'Bring 2.4.1 to staging' } },
        )
      return calls('First I have somebody find out what is promised.', {
        name: 'researcher',
        input: { task: 'Find out what is promised about equal dates' },
      })
    }),
  })
  return {
    definitions: [lead, researcher, coder, releaser],
    async begin(runtime) {
      const agent = await runtime.spawn(lead, { id: 'lead-1' })
      const both = Promise.withResolvers<void>()
      const waiting = new Set<string>()
      agent.subscribe((event) => {
        if (event.type === 'approval.requested') waiting.add(event.agentId)
        if (waiting.size === 2) both.resolve()
      })
      void agent.prompt('Prepare the release of version 2.4.1').result.catch(() => {})
      await both.promise
    },
  }
}
