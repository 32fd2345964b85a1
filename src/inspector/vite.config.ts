import { defineConfig } from 'vite'

/** The inspector page: static files in `dist/inspector`, without anything inline, as its content security policy wants. */
// oxlint-disable-next-line import/no-default-export -- Vite reads it so.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../../dist/inspector',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    sourcemap: false,
    // Timings of the build's parts are noise in the output of `npm start`.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  worker: { format: 'es' },
})
