/**
 * The cost of a start: processor time of fresh processes, which take turns. `node tools/bench/start.ts`, after `npm run build`; `--base <folder>`: beside the
 * `dist` of another checkout, such as a worktree of the commit before, with the ratio of each round; `--rounds 11`.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { format, median } from './measure.ts'

const { values } = parseArgs({ options: { base: { type: 'string' }, rounds: { type: 'string', default: '11' } } })
const root = join(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'escapement-start-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** An application that defines tools has zod itself. */
const program = (dist: string): string => `
  const spent = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000 }
  const begin = spent()
  await import(${JSON.stringify(pathToFileURL(join(root, 'node_modules/zod/index.js')))})
  const { createRuntime, defineAgent, policyModel } = await import(${JSON.stringify(pathToFileURL(join(dist, 'index.js')))})
  const imported = spent() - begin
  const runtime = await createRuntime()
  const definition = defineAgent({ name: 'talker', model: policyModel(() => 'Hello.') })
  const agent = await runtime.spawn(definition)
  await agent.prompt('Say hello').result
  const ran = spent() - begin
  const before = spent()
  await runtime.serve({ definitions: [definition] })
  process.stdout.write(JSON.stringify({ import: imported, 'first run': ran, 'serve()': spent() - before }))
  process.exit()
`

/** Prints what the whole process took, when it ends. */
const meter = `data:text/javascript,process.once('exit',()=>{const{user,system}=process.cpuUsage();process.stderr.write('\\n'+(user+system)/1e3)})`

const onOneCore = spawnSync('taskset', ['--version']).status === 0 ? ['taskset', '-c', '0'] : []

function run(args: readonly string[], env: NodeJS.ProcessEnv): { readonly stdout: string; readonly stderr: string } {
  const [command = '', ...rest] = [...onOneCore, process.execPath, ...args]
  const { status, stdout, stderr } = spawnSync(command, rest, {
    encoding: 'utf8',
    cwd: folder,
    env: { ...process.env, ...env },
  })
  if (status !== 0) throw new Error(stderr)
  return { stdout, stderr }
}

type Figures = Readonly<Record<string, number>>

/** Milliseconds of one process each, without and with what Node compiled before. */
function measured(dist: string): Figures {
  const cache = { NODE_COMPILE_CACHE: join(folder, 'compiled') }
  const application = (env: NodeJS.ProcessEnv) =>
    JSON.parse(run(['--input-type=module', '--eval', program(dist)], env).stdout) as Figures
  const listed = (env: NodeJS.ProcessEnv): number =>
    Number(
      run(['--import', meter, join(dist, 'cli.js'), 'sessions'], env)
        .stderr.split('\n')
        .at(-1),
    )
  const cached = Object.entries(application(cache)).map(([what, ms]) => [`${what}, compiled before`, ms] as const)
  return {
    ...application({ NODE_DISABLE_COMPILE_CACHE: '1' }),
    ...Object.fromEntries(cached),
    'escapement sessions': listed({ NODE_DISABLE_COMPILE_CACHE: '1' }),
    'escapement sessions, compiled before': listed(cache),
  }
}

const dists = [join(root, 'dist'), ...(values.base === undefined ? [] : [resolve(values.base)])]
// Fills the caches.
for (const dist of dists) measured(dist)
const rounds = Array.from({ length: Number(values.rounds) }, () => dists.map(measured))
const column = (figures: readonly number[]): string =>
  `${format(median(figures)).padStart(8)} (${format(Math.min(...figures))})`.padEnd(18)
process.stdout.write('processor time, ms: median (minimum)\n')
for (const what of Object.keys(rounds[0]![0]!)) {
  const columns = dists.map((_, index) => column(rounds.map((round) => round[index]![what]!)))
  const ratio = median(rounds.map(([own, base]) => own![what]! / (base?.[what] ?? Number.NaN)))
  process.stdout.write(
    `${what.padEnd(38)}${columns.join(' base ')}${Number.isNaN(ratio) ? '' : `× ${format(ratio, 2)}`}\n`,
  )
}
