import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build, type Rollup } from 'vite'
import { startChild } from '../../packages/cli/test/cliChild.ts'
import { describeInChromium, type PageIt } from '../browser/chromium.ts'
import { describe, isCi, type CaseContext } from '../support/suite.ts'
import { frontEndPackages } from './frontEndPackages.ts'

/** The files of a page, by name; `page.js` is its module. */
export type PageFiles = ReadonlyMap<string, string | Uint8Array>

/** Pages that are there, each a module in `pages`. */
export type FrontEnd = 'copilotKit' | 'copilotKitOld' | 'assistantUi'

const bundled = new Map<FrontEnd, Promise<PageFiles>>()

/** A group of cases in Chromium with these packages. Where they are missing the cases are skipped; where `CI` is set they fail. */
export function describeFrontEnds(name: string, register: (it: PageIt) => void): void {
  if (frontEndPackages.isThere() || isCi()) return describeInChromium(name, register)
  const why = `the front ends are missing; ${frontEndPackages.advice}`
  describe(name, (it) => register((title) => it.skip(`${title} (skipped: ${why})`)))
}

/** Bundles a page with the packages of others that it imports, once in a process. Rejects when it does not build. */
export function frontEndFiles(page: FrontEnd): Promise<PageFiles> {
  const known = bundled.get(page) ?? bundle(page)
  bundled.set(page, known)
  return known
}

/** A folder beside the packages, so that they are found, with some of the files of `pages`. */
async function beside(files: readonly string[]): Promise<string> {
  if (!frontEndPackages.isThere()) throw new Error(`The front ends are missing: ${frontEndPackages.advice}.`)
  const folder = await mkdtemp(join(frontEndPackages.folder, 'page-'))
  for (const file of files) await cp(join(import.meta.dirname, 'pages', file), join(folder, file))
  return folder
}

/** Starts the runtime of CopilotKit for an endpoint of AG-UI; resolves with its address. */
export async function copilotRuntime(context: CaseContext, endpoint: string): Promise<string> {
  const cwd = await beside(['copilotRuntime.mjs'])
  context.cleanup(() => rm(cwd, { recursive: true, force: true, maxRetries: 5 }))
  const env = { COPILOTKIT_TELEMETRY_DISABLED: 'true', DO_NOT_TRACK: '1' }
  const child = startChild(context, [process.execPath, 'copilotRuntime.mjs', endpoint], { cwd, env })
  await child.until('\n')
  return `http://127.0.0.1:${child.stdout.trim()}/api/copilotkit`
}

async function bundle(page: FrontEnd): Promise<PageFiles> {
  const folder = await beside([`${page}.mjs`])
  try {
    const made = (await build({
      configFile: false,
      root: folder,
      logLevel: 'error',
      resolve: { alias: { 'escapement/client': join(import.meta.dirname, '..', '..', 'src', 'client.ts') } },
      define: { 'process.env.NODE_ENV': '"development"', 'process.env': '{}' },
      build: {
        write: false,
        minify: false,
        // Colours of code and diagrams are most of the bundle, are loaded when they are shown, and no test shows them.
        rolldownOptions: { external: [/^shiki/, /^mermaid/] },
        lib: { entry: join(folder, `${page}.mjs`), formats: ['es'], fileName: 'page', cssFileName: 'page' },
      },
    })) as Rollup.RollupOutput[]
    const files = made.flatMap((one) => one.output)
    return new Map(files.map((file) => [file.fileName, file.type === 'chunk' ? file.code : file.source]))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
