/**
 * Makes what `dist` holds besides the compiled sources: the inspector page, the workers as one piece each, and THIRD-PARTY-NOTICES, which
 * says whose code is in them. `npm run build` runs it after the compiler; with `page` it makes the page alone.
 */
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Rolldown } from 'vite'
import { bundledPackages, type BundledPackages } from './bundledPackages.ts'
import { thirdPartyNotices } from './thirdPartyNotices.ts'

const root = join(import.meta.dirname, '..')

/** The inspector page, in `dist/inspector`. */
export async function bundlePage(packages: BundledPackages, outDir = join(root, 'dist', 'inspector')): Promise<void> {
  const page = join(root, 'src', 'runtime', 'inspector', 'page')
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
      rolldownOptions: {
        output: { codeSplitting: false },
        // A schema that nobody reads is not to bring its library along.
        treeshake: { manualPureFunctions: ['z'] },
      },
    },
  })
  const [{ output }] = [bundled].flat() as [Rolldown.RolldownOutput]
  const [chunk, ...others] = output
  if (others.length > 0)
    throw new Error(`${entry} became more than one file: ${others.map(({ fileName }) => fileName).join(', ')}`)
  return chunk.code
}

/** Puts code in the place of what the compiler made of a source. */
async function replaceCompiled(path: string, code: string): Promise<void> {
  const file = join(root, 'dist', path)
  await rm(`${file}.map`)
  await writeFile(file, code)
}

async function bundleAll(): Promise<void> {
  const packages = bundledPackages()
  await bundlePage(packages)
  await replaceCompiled(
    'runtime/charts/layoutWorker.js',
    await bundleWorker('src/runtime/charts/layoutWorker.ts', packages),
  )
  const search = await bundleWorker('src/actors/tools/workspace/searchWorker.ts', packages)
  const address = JSON.stringify(`data:text/javascript,${encodeURIComponent(search)}`)
  await replaceCompiled(
    'actors/tools/workspace/searchWorkerUrl.js',
    `export const searchWorkerUrl = new URL(${address})\n`,
  )
  await writeFile(join(root, 'THIRD-PARTY-NOTICES'), thirdPartyNotices(packages.all()))
}

if (import.meta.main) await (process.argv[2] === 'page' ? bundlePage(bundledPackages()) : bundleAll())
