import { defineConfig } from 'vite'
import { noPartialOutput } from './noPartialOutput.ts'
import { ownAdvice } from './ownAdvice.ts'

/** The inspector page: static files in `dist/inspector`, without anything inline, as its content security policy wants. */
// oxlint-disable-next-line import/no-default-export -- Vite reads it so.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [ownAdvice, noPartialOutput],
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../../../dist/inspector',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    // Timings of the build's parts are noise in the output of `npm start`.
    rolldownOptions: {
      checks: { pluginTimings: false },
      output: {
        codeSplitting: {
          // One file each for what every visit loads and for what several views share: many small ones are larger together.
          groups: [
            { name: 'page', tags: ['$initial'], priority: 1 },
            {
              // Shared as well, but by none of those that are fetched at first; what it imports may be.
              name: 'events',
              test: /\/(?:eventWords|lookSwitch|askDialog|formDialog)\.tsx?$/,
              minShareCount: 2,
              includeDependenciesRecursively: false,
            },
            // Beside what is fetched at first, or in a view of its own.
            { name: 'sources', test: /\/sourcesPanel\.tsx$/, includeDependenciesRecursively: false },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
  // Node loads it too, by this name (packages/charts/src/layoutInWorker.ts).
  worker: { format: 'es', rolldownOptions: { output: { entryFileNames: 'assets/[name].js' } } },
})
