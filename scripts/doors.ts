import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** Names of the doors of the package: `client` for `dist/client.js`, which is made of `src/client.ts`. */
export function doors(): readonly string[] {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, string | { readonly default: string }>>
  }
  return Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [] : [/^\.\/dist\/(\w+)\.js$/.exec(target.default)![1]!],
  )
}
