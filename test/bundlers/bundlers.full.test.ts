import { cp, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startChild } from '../../packages/cli/test/cliChild.ts'
import { assert, describe, isCi, type CaseContext } from '../support/suite.ts'
import { openLab, type BundlerLab } from './bundlerLab.ts'
import { bundlers } from './bundlers.ts'

/** Output of `program.mjs` and of the route of Next. */
interface Seen {
  readonly text: string
  readonly svg: string
  readonly page?: number
  readonly said?: string
}

// Packing and the slowest bundler, on a machine that does more.
const timeoutMs = 600_000

/** Runs a script of Node to its end, and gives what it printed; fails unless its code is 0. */
async function run(context: CaseContext, cwd: string, script: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await startChild(context, [process.execPath, script, ...args], { cwd, input: '' })
    .ended
  assert.is(code, 0, `${script} ${args.join(' ')}\n${stdout}\n${stderr}`)
  return stdout
}

/** Runs a bundle of `program.mjs` far from the package, in a folder with one file to find. */
async function runElsewhere(context: CaseContext, lab: BundlerLab, bundle: string, serve: boolean): Promise<Seen> {
  await cp(join(lab.apps, 'out'), join(lab.elsewhere, 'out'), { recursive: true })
  const printed = await run(
    context,
    lab.elsewhere,
    join(lab.elsewhere, 'out', bundle),
    await hay(lab),
    ...(serve ? ['serve'] : []),
  )
  return JSON.parse(printed) as Seen
}

async function hay({ elsewhere }: BundlerLab): Promise<string> {
  const folder = join(elsewhere, 'hay')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'stack.txt'), 'hay\na needle\n')
  return folder
}

const found = 'stack.txt:2: a needle'

/** An agent worked, and what needs a file that was left behind said so. */
function isWholeWithoutFiles({ text, svg, page, said }: Seen, serve: boolean): void {
  assert.is(text, found)
  assert.match(svg, /^FILE_MISSING .*layoutWorker\.js, one of which is not there\. Keep escapement out of the bundle/)
  if (!serve) return
  assert.is(page, 503)
  assert.match(said!, /are not beside this server\. In a bundled application keep escapement out of the bundle/)
}

describe('the package in a bundle', (it) => {
  const bundled = (title: string, body: (context: CaseContext, lab: BundlerLab) => Promise<void>): void => {
    if (!bundlers.isThere() && !isCi()) it.skip(`${title} (skipped: the bundlers are missing; ${bundlers.advice})`)
    else it(title, { timeoutMs }, async (context) => body(context, await openLab(context)))
  }

  bundled('of esbuild, in one file of either kind, works and says what was left behind', async (context, lab) => {
    const esbuild = lab.bundler('esbuild/bin/esbuild')
    const make = (...options: readonly string[]): Promise<string> =>
      run(context, lab.apps, esbuild, 'program.mjs', '--bundle', '--platform=node', '--log-level=error', ...options)
    await make('--format=cjs', '--outfile=out/program.cjs')
    isWholeWithoutFiles(await runElsewhere(context, lab, 'program.cjs', true), true)
    await make('--format=esm', '--outfile=out/program.mjs')
    isWholeWithoutFiles(await runElsewhere(context, lab, 'program.mjs', false), false)
    await make('--format=esm', '--packages=external', '--outfile=external.mjs')
    const whole = JSON.parse(await run(context, lab.apps, 'external.mjs', await hay(lab), 'serve')) as Seen
    assert.equal(whole, { text: found, svg: '<svg', page: 200, said: '' })
  })

  bundled('of Vite works, for a server and for browsers', async (context, lab) => {
    const vite = (...args: readonly string[]): Promise<string> =>
      run(context, lab.apps, lab.bundler('vite/bin/vite.js'), 'build', '--logLevel', 'error', ...args)
    const config = 'export default { ssr: { noExternal: true } }\n'
    await writeFile(join(lab.apps, 'whole.config.mjs'), config)
    await vite('--config', 'whole.config.mjs', '--ssr', 'program.mjs', '--outDir', 'out')
    await writeFile(join(lab.apps, 'out', 'package.json'), '{ "type": "module" }')
    isWholeWithoutFiles(await runElsewhere(context, lab, 'program.js', true), true)
    await vite('--ssr', 'program.mjs', '--outDir', 'beside')
    await writeFile(join(lab.apps, 'package.json'), '{ "type": "module" }')
    const whole = JSON.parse(await run(context, lab.apps, 'beside/program.js', await hay(lab), 'serve')) as Seen
    assert.equal(whole, { text: found, svg: '<svg', page: 200, said: '' })
    for (const [page, shown] of [
      ['clientPage', 'function'],
      ['mainPage', 'stateDiagram-v2'],
    ] as const) {
      await writeFile(join(lab.apps, 'index.html'), `<script type="module" src="./${page}.mjs"></script>`)
      await writeFile(join(lab.apps, 'page.config.mjs'), pageConfig)
      await vite('--config', 'page.config.mjs', '--outDir', page)
      await writeFile(
        join(lab.apps, page, 'show.mjs'),
        `await import('./page.js')\nprocess.stdout.write(globalThis.shown)\n`,
      )
      assert.is(await run(context, lab.apps, `${page}/show.mjs`), shown)
    }
  })

  bundled('of webpack works, for Node and for browsers', async (context, lab) => {
    await writeFile(join(lab.apps, 'webpack.mjs'), webpackScript(lab.bundler('webpack/lib/index.js')))
    await run(context, lab.apps, 'webpack.mjs')
    const { text } = await runElsewhere(context, lab, 'program.cjs', true)
    assert.is(text, found)
    const whole = JSON.parse(await run(context, lab.apps, 'external/program.cjs', await hay(lab), 'serve')) as Seen
    assert.equal(whole, { text: found, svg: '<svg', page: 200, said: '' })
    await writeFile(join(lab.apps, 'out', 'show.cjs'), `require('./page.js')\nprocess.stdout.write(globalThis.shown)\n`)
    assert.is(await run(context, lab.apps, 'out/show.cjs'), 'function')
  })

  bundled('of Next.js works, in a route and on a page', async (context, lab) => {
    const app = join(lab.apps, 'next')
    const env = { NEXT_TELEMETRY_DISABLED: '1' }
    // It looks for a lock file above, but in no folder that is below a home.
    await writeFile(
      join(app, 'next.config.mjs'),
      `export default {
        turbopack: { root: ${JSON.stringify(lab.root)} },
        experimental: { turbopackFileSystemCacheForBuild: true },
      }\n`,
    )
    await lab.restoreCache('next/.next/cache')
    const next = (...args: readonly string[]) =>
      startChild(context, [process.execPath, lab.bundler('next/dist/bin/next'), ...args], { cwd: app, env })
    const built = await next('build').ended
    // One that did not build may owe it to the cache: that is not kept.
    assert.is(built.code, 0, built.stdout + built.stderr)
    await lab.keepCache('next/.next/cache')
    const server = next('start', '--port', '0', '--hostname', '127.0.0.1')
    await server.until('Ready')
    const [address] = /http:\/\/[\w.]+:\d+/.exec(server.stdout)!
    const answer = await fetch(`${address}/api/agent?folder=${encodeURIComponent(await hay(lab))}`, context)
    const { text } = (await answer.json()) as Seen
    assert.is(text, found)
    assert.match(await (await fetch(address, context)).text(), /connect is a (?:<!-- -->)?function/)
  })
})

const pageConfig = `export default {
  build: { modulePreload: false, rolldownOptions: { output: { entryFileNames: 'page.js' } } },
}
`

const webpackScript = (webpack: string): string => `import webpack from ${JSON.stringify(webpack)}

const make = (config) =>
  new Promise((resolve, reject) =>
    webpack({ mode: 'production', optimization: { minimize: false }, ...config }, (error, stats) => {
      if (error !== null) reject(error)
      else if (stats.hasErrors()) reject(new Error(stats.toString({ all: false, errors: true })))
      else resolve()
    }),
  )
const out = (folder, filename) => ({ path: import.meta.dirname + '/' + folder, filename })
await make({ target: 'node', entry: './program.mjs', output: out('out', 'program.cjs') })
await make({ entry: './clientPage.mjs', output: out('out', 'page.js') })
const outside = { externals: /^escapement/, externalsType: 'import' }
await make({ target: 'node22', entry: './program.mjs', output: out('external', 'program.cjs'), ...outside })
`
