/**
 * Makes what `dist` holds besides the declarations: the entries, the inspector page, with a server and without one, the workers as one piece each, the
 * suites, and THIRD-PARTY-NOTICES, which says whose code is in them. `npm run build` runs it after the compiler; with `page` it makes the page alone.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build, type Plugin, type Rolldown } from 'vite'
import { bundleDeclarations } from './bundleDeclarations.ts'
import { bundleEntries } from './bundleEntries.ts'
import { bundleSuites } from './bundleSuites.ts'
import { bundledPackages, type BundledPackages } from './bundledPackages.ts'
import { reportAssets, type ReportAssets } from '../packages/evaluation/src/report/page/reportAssets.ts'
import { agentLayouts } from './layouts.ts'
import { bundleOffline } from './offlinePage.ts'
import { thirdPartyNotices } from './thirdPartyNotices.ts'

const root = join(import.meta.dirname, '..')

/** The inspector page, in `dist/inspector`. */
export async function bundlePage(packages: BundledPackages, outDir = join(root, 'dist', 'inspector')): Promise<void> {
  const page = join(root, 'packages', 'page', 'src', 'inspector')
  await build({
    root: page,
    configFile: join(page, 'vite.config.ts'),
    logLevel: 'warn',
    plugins: [packages.plugin],
    worker: { plugins: () => [packages.plugin] },
    build: { outDir, emptyOutDir: true },
  })
}

/** The code of a worker of Node, in one piece that needs no file or package beside it. */
export async function bundleWorker(entry: string, packages: BundledPackages): Promise<string> {
  const bundled = await build({
    configFile: false,
    root,
    logLevel: 'warn',
    plugins: [packages.plugin],
    ssr: { noExternal: true, target: 'node' },
    build: {
      ssr: join(root, entry),
      write: false,
      target: 'node22',
      minify: true,
      rolldownOptions: { output: { codeSplitting: false } },
    },
  })
  const [{ output }] = [bundled].flat() as [Rolldown.RolldownOutput]
  const [chunk, ...others] = output
  if (others.length > 0)
    throw new Error(`${entry} became more than one file: ${others.map(({ fileName }) => fileName).join(', ')}`)
  return chunk.code
}

/** Replaces the address of a worker, in a file of its own, by its code, so that bundlers include it like any other module. */
function workerInside(file: string, name: string, code: string): Plugin {
  const address = JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)
  return {
    name,
    load: (id) => (id.endsWith(file) ? `export const ${name} = new URL(${address})\n` : undefined),
  }
}

/** Inserts the layouts of the charts of agents, so that they need not be computed. */
const layoutsInside = (layouts: Awaited<ReturnType<typeof agentLayouts>>): Plugin => ({
  name: 'layouts',
  load: (id) =>
    id.endsWith('/packages/charts/src/builtLayouts.ts')
      ? `export const builtLayouts = JSON.parse(${JSON.stringify(JSON.stringify(layouts))})\n`
      : undefined,
})

/** The inspector page, with a server and without one, in `dist`. */
export async function bundlePages(packages = bundledPackages()): Promise<void> {
  await bundlePage(packages)
  await bundleOffline([packages.plugin])
}

/** Inserts the style and the code of the pages of reports, which are made from sources that the package does not run. */
const reportAssetsInside = (assets: ReportAssets): Plugin => ({
  name: 'report-assets',
  load: (id) =>
    id.endsWith('/report/page/reportAssets.ts')
      ? `const assets = JSON.parse(${JSON.stringify(JSON.stringify(assets))})\nexport const reportAssets = async () => assets\n`
      : undefined,
})

async function bundleAll(): Promise<void> {
  const packages = bundledPackages()
  const dist = join(root, 'dist')
  await bundlePages(packages)
  const search = await bundleWorker('packages/tools/src/workspace/searchWorker.ts', packages)
  const scripts = await bundleWorker('packages/code/src/scriptWorker.ts', packages)
  await bundleEntries(dist, [
    packages.plugin,
    workerInside('/workspace/searchWorkerUrl.ts', 'searchWorkerUrl', search),
    workerInside('/code/src/scriptWorkerUrl.ts', 'scriptWorkerUrl', scripts),
    layoutsInside(await agentLayouts()),
    reportAssetsInside(await reportAssets()),
  ])
  const layoutWorker = join(dist, 'charts', 'layoutWorker.js')
  await mkdir(dirname(layoutWorker), { recursive: true })
  await writeFile(layoutWorker, await bundleWorker('packages/charts/src/layoutWorker.ts', packages))
  await bundleSuites()
  await bundleDeclarations(join(dist, 'declarations'), dist)
  await writeFile(join(root, 'THIRD-PARTY-NOTICES'), thirdPartyNotices(packages.all()))
}

if (import.meta.main) await (process.argv[2] === 'page' ? bundlePages() : bundleAll())
