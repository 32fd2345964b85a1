import { defineConfig } from 'vite'
import { unusedByPage } from './unusedByPage.ts'
import { ownAdvice } from './ownAdvice.ts'

/** Modules by their ids, as a bundler knows them. */
interface Graph {
  getModuleInfo(id: string): { readonly importedIds: readonly string[] } | null
}

/** Entry modules of the overview with the list of agents, and of an agent with its conversation. */
const begins = {
  shared: ['views/shell/start.tsx', 'views/sessions/sidebar.tsx'],
  ofAgents: ['views/agent/agentPane.tsx', 'model/agent/followedAgent.ts'],
}

/** Returns true if a module is one of these or imported by them. */
function isWithin(id: string, files: readonly string[], graph: Graph): boolean {
  const found = new Set(files.map((file) => `${import.meta.dirname}/${file}`))
  for (const one of found) {
    if (one === id) return true
    for (const imported of graph.getModuleInfo(one)?.importedIds ?? []) found.add(imported)
  }
  return false
}

/** Returns true for a module that every visit loads: with the page itself, or with any view that it begins with. */
const isOfAll = (id: string, graph: Graph): boolean =>
  isWithin(id, ['main.tsx'], graph) || Object.values(begins).every((files) => isWithin(id, files, graph))

/**
 * Returns the file for a module that several views share: the overview needs none of an agent, and an agent nothing of its further views. `null`: its
 * own, as what is imported when it is needed would have to be an object beside other modules.
 */
const fileOf = (id: string, graph: Graph): string | null =>
  id.endsWith('/followedAgent.ts')
    ? null
    : (Object.entries(begins).find(([, files]) => isWithin(id, files, graph))?.[0] ?? 'ofViews')

/** The inspector page: static files in `dist/inspector`, without anything inline, as its content security policy wants. */
// oxlint-disable-next-line import/no-default-export -- Vite reads it so.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [ownAdvice, unusedByPage],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../../dist/inspector',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    // What a view imports is on its way by then (app.tsx), and the code to see to it is larger than what is gained.
    modulePreload: false,
    sourcemap: false,
    // Timings of the build's parts are noise in the output of `npm start`.
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          // One file each for what every visit loads and for what several views share: many small ones are larger together.
          groups: [
            { name: (id: string, graph: Graph) => (isOfAll(id, graph) ? 'page' : null), priority: 1 },
            {
              // Shared as well, but by none of those that are fetched at first; what it imports may be.
              name: 'events',
              test: /\/(?:eventWords|lookSwitch|askDialog|formDialog)\.tsx?$/,
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
            // Beside what is fetched at first, or in a view of its own.
            { name: 'sources', test: /\/sourcesPanel\.tsx$/, includeDependenciesRecursively: false },
            {
              // Pictures of charts, of agents and of machines; no details need them.
              name: 'charts',
              test: /\/(?:chart(?:Stage|Picture|Card|Camera|Choice|Words|Skeleton|Drawing|Layout)|arrowPath|machinesBeside|brakeChips|hubExits|textMeasure|edgeWords)\.tsx?$/,
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
            {
              // Lines about machines, on the overview and in their own view.
              name: 'hosts',
              test: /\/host(?:Parts|Words)\.tsx?$/,
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
            { name: fileOf, minShareCount: 2, includeDependenciesRecursively: false },
          ],
        },
      },
    },
  },
  // Node loads it too, by this name (packages/charts/src/layoutInWorker.ts).
  worker: { format: 'es', rolldownOptions: { output: { entryFileNames: 'assets/[name].js' } } },
})
