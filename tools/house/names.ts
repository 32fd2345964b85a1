import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import { root } from './sources.ts'

/** The names that a module exports, types among them, through all that it hands on. */
export function namesOf(path: string): ReadonlySet<string> {
  const { module } = parseSync(path, readFileSync(join(root, path), 'utf8'))
  return new Set(
    module.staticExports
      .flatMap(({ entries }) => entries)
      .flatMap(({ exportName, moduleRequest }) => {
        if (exportName.name !== null) return [exportName.name]
        return moduleRequest === null ? ['default'] : [...namesOf(posix.join(posix.dirname(path), moduleRequest.value))]
      }),
  )
}

/** The names of each door of the package, by its subpath. */
export function publicNames(): ReadonlyMap<string, ReadonlySet<string>> {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { readonly default: string }>
  }
  return new Map(
    Object.entries(exports).flatMap(([subpath, target]) =>
      typeof target === 'string'
        ? []
        : [[subpath, namesOf(target.default.replace(/^\.\/dist\/(.*)\.js$/, 'src/$1.ts'))] as const],
    ),
  )
}

/** The members of a class and of all that it extends; private ones too. The classes are looked for in these sources. */
export function membersOf(
  name: string,
  sources: readonly { readonly text: string; readonly path: string }[],
): ReadonlySet<string> {
  for (const { path, text } of sources) {
    if (!new RegExp(String.raw`\bclass ${name}\b`).test(text)) continue
    const { program } = parseSync(path, text)
    for (const statement of program.body) {
      const found = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement
      if (found?.type !== 'ClassDeclaration' || found.id?.name !== name) continue
      const own = found.body.body.flatMap((member) => {
        if (!('key' in member)) return []
        if (member.key.type === 'PrivateIdentifier') return [`#${member.key.name}`]
        return member.key.type === 'Identifier' ? [member.key.name] : []
      })
      const above = found.superClass?.type === 'Identifier' ? membersOf(found.superClass.name, sources) : []
      return new Set([...own, ...above])
    }
  }
  return new Set()
}
