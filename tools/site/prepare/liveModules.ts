import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { build, type Plugin } from 'vite'

/** Bundles what brings pages of a version to life, from its own sources: each `*.live.ts` of `tools/site/live` is a module of its own. */
export async function liveModules(root: string, outDir: string): Promise<void> {
  const folder = join(root, 'tools', 'site', 'live')
  if (!existsSync(folder)) return
  const names = (await readdir(folder)).filter((name) => name.endsWith('.live.ts'))
  if (names.length === 0) return
  const { inBrowser } = (await import(join(root, 'scripts', 'inBrowser.ts'))) as { inBrowser(): Plugin }
  await build({
    configFile: false,
    root,
    logLevel: 'warn',
    publicDir: false,
    plugins: [inBrowser()],
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      assetsInlineLimit: 0,
      modulePreload: false,
      chunkSizeWarningLimit: 2_000,
      rolldownOptions: {
        checks: { pluginTimings: false },
        input: Object.fromEntries(names.map((name) => [basename(name, '.live.ts'), join(folder, name)])),
        output: {
          entryFileNames: '[name].js',
          chunkFileNames: '[name]-[hash].js',
          assetFileNames: '[name]-[hash][extname]',
        },
      },
    },
    worker: { format: 'es' },
    base: './',
  })
}

/** Where a page comes to life: `<!-- live: chart -->` becomes an element for `chart.live.ts`. Pure. */
export function livePlaces(markdown: string): { readonly markdown: string; readonly scripts: readonly string[] } {
  const scripts: string[] = []
  const made = markdown.replaceAll(/^<!-- live: (\w+) -->$/gm, (_, name: string) => {
    scripts.push(name)
    return `<div id="live-${name}" class="live" data-pagefind-ignore><p>This needs JavaScript.</p></div>`
  })
  return { markdown: made, scripts }
}
