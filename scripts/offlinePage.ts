import { join } from 'node:path'
import { build, type Plugin } from 'vite'
import { inBrowser } from './inBrowser.ts'

const root = join(import.meta.dirname, '..', 'packages', 'page', 'src', 'offline')

/**
 * Makes the page for recorded sessions, by default in `dist/offline`: one classic script and one stylesheet, as a page that is opened from a
 * disk can load neither modules nor workers. The HTML around them is written with the sessions (`packages/page/src/sessionPages/pageHtml.ts`).
 */
export async function bundleOffline(
  plugins: readonly Plugin[] = [],
  outDir = join(import.meta.dirname, '..', 'dist', 'offline'),
): Promise<void> {
  await build({
    root,
    configFile: false,
    logLevel: 'warn',
    plugins: [inBrowser(), ...plugins],
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    publicDir: '../inspector/public',
    build: {
      outDir,
      emptyOutDir: true,
      target: 'es2023',
      modulePreload: false,
      cssCodeSplit: false,
      sourcemap: false,
      // It comes from a disk.
      chunkSizeWarningLimit: 2_000,
      rolldownOptions: {
        input: 'main.tsx',
        checks: { pluginTimings: false },
        // A classic script has none; what asks for it can do without.
        transform: { define: { 'import.meta': '{}' } },
        output: {
          format: 'iife',
          codeSplitting: false,
          entryFileNames: 'inspector.js',
          assetFileNames: 'inspector[extname]',
        },
      },
    },
  })
}
