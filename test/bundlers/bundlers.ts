import { cachedPackages } from '../support/cachedPackages.ts'

/** Vite, esbuild, webpack and Next.js. */
export const bundlers = cachedPackages({
  name: 'A set of bundlers',
  door: 'test/bundlers/bundlerLab.ts',
  here: import.meta.dirname,
  cache: 'escapement-bundlers',
})

export const bundlersFolder = bundlers.folder
