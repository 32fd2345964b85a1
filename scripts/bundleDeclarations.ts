import { rm } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { rolldown, type Plugin } from 'rolldown'
import { dts } from 'rolldown-plugin-dts'
import { doors } from './doors.ts'
import { reachedFrom } from './reachedFrom.ts'

/** The chunk of a declaration that the main door needs, by its path from the root. Pure. */
function chunkOf(path: string): string {
  // Beside the model's `Policy`, one of two public types of that name would be shown to users as another.
  if (path === 'src/actors/define/policy.d.ts') return 'policies'
  if (/^packages\/(?:define|redaction|remote|schemas|ai-sdk\/src\/adapters)\//.test(path)) return 'actors'
  if (path.startsWith('packages/words/')) return 'protocol'
  return /^(?:src|packages)\/([^/]+)\//.exec(path)?.[1] ?? 'runtime'
}

/**
 * Makes the declarations of the doors in `outDir` from those that the compiler wrote for each source into `from`, which is removed. Each
 * door is a file; declarations that the main door shares with others are in `types`, a file for each folder of the sources. Declarations
 * that two doors share exist once, so that a class is the same type through both.
 */
export async function bundleDeclarations(from: string, outDir: string): Promise<void> {
  const entries = new Map(doors().map((name) => [name, join(from, 'src', `${name}.d.ts`)]))
  const isEntry = new Set(entries.values())
  let ofIndex: ReadonlySet<string> = new Set()
  const reach: Plugin = {
    name: 'reach',
    buildEnd() {
      ofIndex = reachedFrom([entries.get('index')!], (id) => this.getModuleInfo(id), false)
    },
  }
  const bundle = await rolldown({
    input: Object.fromEntries(entries),
    external: (id) => !/^[./]|^\w:/.test(id),
    preserveEntrySignatures: 'allow-extension',
    checks: { pluginTimings: false },
    plugins: [
      dts({
        dtsOnly: true,
        tsconfig: false,
        sourcemap: false,
        // All that is read are declarations: nothing is left to generate, and no compiler to be asked.
        generator: { emit: (_code, file) => ({ error: `${file} is a source: only what tsc made of it is bundled.` }) },
      }),
      reach,
    ],
  })
  await bundle.write({
    dir: outDir,
    format: 'es',
    // Those it would choose end with a hash, which TypeScript takes for another extension.
    entryFileNames: ({ name }) => `${withoutExtension(name)}.d.ts`,
    chunkFileNames: ({ name }) => `types/${withoutExtension(name)}.d.ts`,
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        {
          debugName: 'folders',
          name: (id) =>
            isEntry.has(id) || (!ofIndex.has(id) && !id.includes('/remote/'))
              ? null
              : chunkOf(relative(from, id).split(sep).join('/')),
        },
      ],
    },
  })
  await bundle.close()
  await rm(from, { recursive: true })
}

const withoutExtension = (name: string): string => name.replace(/\.d$/, '')
