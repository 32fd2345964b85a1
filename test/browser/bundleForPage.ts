import { build, type Rollup } from 'vite'

/** Bundles a TypeScript file and what it imports to one module for a page. Rejects when it does not build. */
export async function bundleForPage(entry: string): Promise<string> {
  const output = (await build({
    configFile: false,
    logLevel: 'error',
    // Packages of React choose by it, also in a bundle for a page.
    define: { 'process.env.NODE_ENV': '"development"' },
    build: { write: false, minify: false, lib: { entry, formats: ['es'], fileName: 'page' } },
  })) as Rollup.RollupOutput[]
  const [chunk] = output.flatMap((bundle) => bundle.output)
  if (chunk?.type !== 'chunk') throw new Error(`${entry} gives no module`)
  return chunk.code
}
