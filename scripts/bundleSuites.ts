import { cp, readdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { build, type Plugin } from 'vite'

const root = join(import.meta.dirname, '..')

/** A door of the package, by its source: suites import it from there, and find it where the package has it. */
const doorOf = (id: string): string | undefined => {
  const path = relative(join(root, 'src'), id).split(sep).join('/')
  return /^\w+\.ts$/.test(path) ? path.replace(/\.ts$/, '.js') : undefined
}

/** Has what suites import of the package outside of them, two folders up. */
const doorsOutside: Plugin = {
  name: 'doors-outside',
  enforce: 'pre',
  async resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.')) return null
    const resolved = await this.resolve(source, importer, { skipSelf: true })
    const door = resolved === null ? undefined : doorOf(resolved.id)
    return door === undefined ? null : { id: `../../${door}`, external: true }
  },
}

/**
 * Makes `suites` of `dist`: for each suite of the repository its tasks as they are, and its module as JavaScript, since Node runs no TypeScript
 * from a package.
 */
export async function bundleSuites(outDir = join(root, 'dist', 'suites')): Promise<void> {
  const from = join(root, 'suites')
  const names = (await readdir(from)).filter((name) => existsSync(join(from, name, 'suite.ts')))
  for (const name of names) {
    const folder = join(outDir, name)
    for (const entry of await readdir(join(from, name)))
      if (!entry.endsWith('.ts')) await cp(join(from, name, entry), join(folder, entry), { recursive: true })
    await build({
      configFile: false,
      root,
      logLevel: 'warn',
      plugins: [doorsOutside],
      build: {
        ssr: join(from, name, 'suite.ts'),
        outDir: folder,
        emptyOutDir: false,
        target: 'es2024',
        minify: false,
        rolldownOptions: { output: { entryFileNames: 'suite.js', codeSplitting: false } },
      },
    })
  }
}
