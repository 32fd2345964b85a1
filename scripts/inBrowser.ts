import { join } from 'node:path'
import type { Plugin } from 'vite'
import { agentLayouts } from './layouts.ts'

const offline = join(import.meta.dirname, '..', 'packages', 'page', 'src', 'offline')

/** Modules of Node that the runtime and the bridge import, and what stands for them in a page: no others. */
const modules: Readonly<Record<string, string>> = {
  'node:crypto': 'node/crypto.ts',
  'node:path': 'node/path.ts',
  'node:timers/promises': 'node/timersPromises.ts',
  'node:util': 'node/util.ts',
  'node:zlib': 'node/zlib.ts',
}

/** Files of ours that only make sense with files and threads. */
const files: Readonly<Record<string, string>> = {
  'packages/tools/src/skills/openFolders.ts': 'instead/openFolders.ts',
  'charts/src/layoutInWorker.ts': 'instead/layouts.ts',
  'page/src/inspector/worker/layoutChart.ts': 'instead/layouts.ts',
  'bridge/src/server/serve.ts': 'instead/serve.ts',
}

const globals = ['Buffer', 'process', 'setImmediate'] as const
const usesGlobal = (name: string): RegExp => new RegExp(String.raw`(?<![.\w'"])${name}\b(?!\s+as\b)`)

/**
 * Lets Vite bundle the runtime, the bridge and the inspector for a page: what they need of Node is replaced by `packages/page/src/offline/node`. Any other
 * module of Node stops the build.
 */
export function inBrowser(): Plugin {
  return {
    name: 'in-browser',
    enforce: 'pre',
    resolveId(id, importer) {
      if (!id.startsWith('node:')) return undefined
      const stand = modules[id]
      if (stand === undefined)
        throw new Error(`${importer} imports ${id}, which a page does not have (scripts/inBrowser.ts).`)
      return join(offline, stand)
    },
    async load(id) {
      const path = id.replace(/\?.*$/, '')
      if (path.endsWith('/charts/src/builtLayouts.ts'))
        return `export const builtLayouts = ${JSON.stringify(await agentLayouts())}`
      const [, instead] = Object.entries(files).find(([file]) => path.endsWith(`/${file}`)) ?? []
      return instead === undefined ? undefined : `export * from ${JSON.stringify(join(offline, instead))}`
    },
    transform(code, id) {
      if (!/\/src\/.*\.tsx?$/.test(id) || id.includes('/node_modules/') || id.startsWith(join(offline, 'node')))
        return undefined
      const used = globals.filter((name) => usesGlobal(name).test(code))
      if (used.length === 0) return undefined
      return `import { ${used.join(', ')} } from ${JSON.stringify(join(offline, 'node', 'globals.ts'))}\n${code}`
    },
  }
}
