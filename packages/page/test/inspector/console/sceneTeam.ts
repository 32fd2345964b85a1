import { z } from 'zod'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../../src/actors/tools/defineTool.ts'
import { calls, paced, pricing, type Pace } from './sceneModel.ts'

/** Agents of the tree below the lead: nineteen, of which most work, two wait for a person, and one has failed. */
export function team(pace: Pace): AgentDefinition {
  const fetchPage = defineTool({
    name: 'fetch_page',
    description: 'Reads a page.',
    input: z.object({ url: z.string() }),
    effects: 'none',
    run: async ({ url }, { signal }) => {
      if (!url.endsWith('/okapi')) await pace.work(signal)
      return `The page ${url} says: the okapi sleeps five minutes a day.`
    },
  })
  const runCommand = defineTool({
    name: 'run_command',
    description: 'Runs a command.',
    input: z.object({ command: z.string() }),
    run: async ({ command }, { signal }) => {
      if (command.includes('--fast')) throw new Error(`exit code 1\n3 of 218 tests failed after ${command}`)
      await pace.work(signal)
      return 'exit code 0'
    },
  })
  const deploy = defineTool({
    name: 'deploy',
    description: 'Brings a version into an environment.',
    input: z.object({ to: z.string(), version: z.string() }),
    needsApproval: true,
    run: ({ to, version }) => `${version} is in ${to}.`,
  })
  const editFile = defineTool({
    name: 'edit_file',
    description: 'Edits a file.',
    input: z.object({ path: z.string(), edits: z.array(z.object({ oldText: z.string(), newText: z.string() })) }),
    needsApproval: true,
    run: ({ path }) => `Edited ${path}.`,
  })
  const ask = defineTool({
    name: 'ask_person',
    description: 'Asks a person.',
    input: z.object({}),
    run: (_, context) =>
      context
        .ask(z.object({ colour: z.enum(['red', 'blue']), why: z.string().optional() }), 'Which colour is the banner?')
        .then((answer) => JSON.stringify(answer)),
  })

  const fetcher = defineAgent({
    name: 'fetcher',
    description: 'Reads pages.',
    pricing,
    tools: [fetchPage],
    model: paced(pace, ({ task, done }) => {
      const topic = task.split(' ').at(-1)!
      if (done === 0)
        return calls(`I read about ${topic}.`, { name: 'fetch_page', input: { url: `https://zoo.test/${topic}` } })
      return topic === 'okapi' ? 'The okapi sleeps five minutes a day, it says there.' : `I have read about ${topic}.`
    }),
  })
  const researcher = defineAgent({
    name: 'researcher',
    description: 'Finds things out.',
    pricing,
    agents: [fetcher],
    model: paced(pace, ({ task, done }) => {
      const topics = task.split(': ').at(-1)!.split(', ')
      if (done > 0) return `Here is what is known of ${topics.join(', ')}.`
      return calls(
        'I have pages read.',
        ...topics.map((topic) => ({ name: 'fetcher', input: { task: `Read about ${topic}` } })),
      )
    }),
  })
  const coder = defineAgent({
    name: 'coder',
    description: 'Changes code.',
    pricing,
    tools: [runCommand, editFile],
    model: paced(pace, ({ task, done }) => {
      if (done < 3) return calls('I run the tests.', { name: 'run_command', input: { command: 'npm test --fast' } })
      if (!task.includes('cache'))
        return calls('All of them now.', { name: 'run_command', input: { command: 'npm test -- --all' } })
      const edits = [{ oldText: 'const ttl = 60\nreturn ttl', newText: 'const ttl = 3600\nreturn ttl' }]
      return done === 3
        ? calls('It expires too early.', { name: 'edit_file', input: { path: 'src/cache.ts', edits } })
        : 'The cache holds.'
    }),
  })
  const releaser = defineAgent({
    name: 'releaser',
    description: 'Brings versions into production.',
    pricing,
    tools: [deploy],
    model: paced(pace, ({ task, done }) =>
      done > 0
        ? 'It is decided.'
        : calls(
            'Three places are left.',
            ...['staging', 'production', 'mirror'].map((to) => ({
              name: 'deploy',
              input: { to, version: task.match(/[\d.]+\d/)?.[0] ?? '1.0.0' },
            })),
          ),
    ),
  })
  const interviewer = defineAgent({
    name: 'interviewer',
    description: 'Asks people.',
    pricing,
    tools: [ask],
    model: paced(pace, ({ done }) =>
      done > 0 ? 'They have chosen.' : calls('I ask.', { name: 'ask_person', input: {} }),
    ),
  })
  const auditor = defineAgent({
    name: 'auditor',
    description: 'Checks the books.',
    pricing,
    retry: { attempts: 1 },
    model: paced(pace, () => {
      throw Object.assign(new Error('The books are locked until Monday.'), { statusCode: 401 })
    }),
  })
  const head = defineAgent({
    name: 'head',
    description: 'Leads a team.',
    pricing,
    agents: [researcher, coder, releaser, interviewer, auditor],
    model: paced(pace, ({ task, done }) => {
      if (done > 0) return 'The team is done.'
      const plan = plans[task.split(' ').at(-1)!] ?? []
      return calls('The team begins.', ...plan.map(([name, text]) => ({ name, input: { task: text } })))
    }),
  })
  return defineAgent({
    name: 'lead',
    description: 'Leads the release.',
    pricing,
    agents: [head],
    captureTurnRequests: true,
    model: paced(pace, ({ done }) =>
      done > 0
        ? 'All teams are done.'
        : calls(
            'Four teams work on it.',
            ...Object.keys(plans).map((name) => ({ name: 'head', input: { task: `Lead the team ${name}` } })),
          ),
    ),
  })
}

/** Who is to do what in each team. */
const plans: { readonly [team: string]: readonly (readonly [agent: string, task: string])[] } = {
  research: [
    ['researcher', 'Find out how they sleep: okapi, giraffe, bat'],
    ['researcher', 'Find out what they eat: owl, panda'],
  ],
  build: [
    ['coder', 'Fix the flaky test of the scheduler'],
    ['coder', 'Make the cache last'],
    ['coder', 'Bring the linter up to date'],
  ],
  release: [
    ['releaser', 'Release 2.4.1 everywhere'],
    ['auditor', 'Check the books of the third quarter'],
  ],
  people: [
    ['interviewer', 'Ask what colour the banner shall be'],
    ['researcher', 'Ask around who likes: newts'],
  ],
}
