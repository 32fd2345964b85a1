import { defineConfig } from 'vite'

/**
 * What makes schemas. Never `z` alone: a function of that name in a package that comes minified counts as well, and what it does is left out;
 * in Preact that is all drawing.
 */
const schemas = [
  'array',
  'boolean',
  'custom',
  'discriminatedUnion',
  'enum',
  'int',
  'intersection',
  'literal',
  'number',
  'object',
  'record',
  'strictObject',
  'string',
  'tuple',
  'union',
  'unknown',
].map((name) => `z.${name}`)

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
    rolldownOptions: {
      checks: { pluginTimings: false },
      // What the page checks it checks with `src/client/shape.ts`: schemas of which only the types are used do not bring zod along.
      treeshake: { manualPureFunctions: schemas },
    },
  },
  worker: { format: 'es' },
})
