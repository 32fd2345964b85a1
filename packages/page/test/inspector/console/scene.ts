import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import type { CaseContext } from '../../../../../test/support/suite.ts'
import { serveInspector } from '../inspectorHarness.ts'
import type { Serving } from '../../../../bridge/test/server/bridgeHarness.ts'
import { loners } from './sceneLoners.ts'
import { held, type Pace } from './sceneModel.ts'
import { team } from './sceneTeam.ts'

/** A tree of twenty busy agents and a dozen that work alone, on a server. */
export interface Scene extends Serving {
  /** Makes the one that failed work the next time. */
  repair(): void
  /** Where the agents write. */
  readonly folder: string
  /** Adds agents that have done a small thing and are idle. */
  addIdle(count: number): Promise<void>
}

export interface SceneOptions {
  /** How many idle agents there are beside the others. Default 0. */
  readonly agents?: number
  readonly pace?: Pace
  readonly port?: number
}

/** Names as people do not think of them. */
export const oddNames = {
  long: 'W'.repeat(1_000),
  rightToLeft: 'مرحبا: أصلح \u202Eהבדיקה\u202C',
  combining: `e${'\u0301'.repeat(60)}tude`,
} as const

/** Sets the scene; resolves once everything in it stands as it stays, as long as its pace is `held`. */
export async function serveScene(
  context: Pick<CaseContext, 'cleanup'>,
  { agents = 0, pace = held, port }: SceneOptions = {},
): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'escapement-scene-'))
  context.cleanup(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  mkdirSync(join(folder, 'files'))
  writeFileSync(join(folder, 'files', 'prices.txt'), 'apple 1\n')
  const summary = { isBroken: true }
  const lead = team(pace)
  const { weather, ...alone } = loners(pace, folder, summary)
  const definitions = [lead, ...Object.values(alone), ...below(lead)]
  const serving = await serveInspector(context, definitions, port === undefined ? {} : { port })
  const { runtime } = serving
  const begin = async (definition: AgentDefinition, id: string, prompt: string): Promise<void> => {
    const agent = await runtime.spawn(definition, { id })
    await agent.prompt(prompt).result.catch(() => {})
  }
  const addIdle = async (count: number): Promise<void> => {
    for (let from = 0; from < count; from += 100)
      await Promise.all(
        Array.from({ length: Math.min(100, count - from) }, (_, index) =>
          begin(alone.worker, `worker-${from + index}`, `Look at part ${from + index} of the archive`),
        ),
      )
  }

  const root = await runtime.spawn(lead, { id: 'lead' })
  const waiting = new Set<string>()
  const isSet = Promise.withResolvers<void>()
  root.subscribe((event) => {
    if (event.type === 'approval.requested' || event.type === 'question.asked')
      waiting.add(`${event.agentId} ${event.key}`)
    if (waiting.size === 5) isSet.resolve()
  })
  void root.prompt('Prepare the release of this week').result.catch(() => {})
  const work: Promise<void>[] = [
    begin(alone.digger, 'digger', 'Find the gold below the oak'),
    begin(alone.archivist, 'archivist', 'Read the archive of the last century'),
    begin(alone.librarian, 'librarian', 'Read the shelves of today'),
    begin(alone.clerk, 'clerk', 'Answer the tickets of today'),
    begin(alone.summariser, 'summariser-q3', 'Summarise the third quarter for the board'),
    begin(alone.looper, 'looper', 'Dig until there is something'),
    begin(alone.editor, 'editor', 'Write the prices down'),
    begin(alone.writer, 'writer', 'Report on the week'),
    begin(alone.writer, 'long', oddNames.long),
    begin(alone.writer, 'rtl', oddNames.rightToLeft),
    begin(alone.writer, 'combining', oddNames.combining),
  ]
  await Promise.all([isSet.promise, ...(pace === held ? work : [])])
  weather.goDown('The connection was refused.')
  await addIdle(agents)
  return { ...serving, folder, addIdle, repair: () => void (summary.isBroken = false) }
}

function below(definition: AgentDefinition): AgentDefinition[] {
  const found = [...definition.agents.values()].map((agent) => agent.definition)
  return [...new Set(found.flatMap((one) => [one, ...below(one)]))]
}

/** By hand, people can watch: words come slowly, and work takes some seconds. */
const watchable: Pace = {
  wordMs: 60,
  work: (signal) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, 20_000 + Math.random() * 100_000)
      signal.addEventListener('abort', () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true })
    }),
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      agents: { type: 'string', default: '0' },
      port: { type: 'string', default: '0' },
      held: { type: 'boolean', default: false },
    },
  })
  const cleanups: (() => unknown)[] = []
  const { server } = await serveScene(
    { cleanup: (work) => void cleanups.push(work) },
    { agents: Number(values.agents), port: Number(values.port), pace: values.held ? held : watchable },
  )
  console.log(`http://127.0.0.1:${server.port}/`)
  process.once('SIGINT', () => {
    void (async () => {
      for (const cleanup of cleanups.toReversed()) await cleanup()
      process.exit(0)
    })()
  })
}
