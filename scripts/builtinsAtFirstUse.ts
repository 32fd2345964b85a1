import { type ESTree, parseSync, type Plugin, Visitor } from 'vite'

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * Makes bundles load modules of Node when one of their exports is first used. An `import` loads them with the package, and to do so reads
 * each of their exports: one of `node:http` is a second HTTP client.
 */
export const builtinsAtFirstUse = (): Plugin => ({
  name: 'builtins-at-first-use',
  transform: {
    order: 'post',
    filter: { id: { exclude: /\/node_modules\// }, code: /from ["']node:/ },
    handler: (code) => ({ code: withoutImports(code), map: null }),
  },
})

/** The code of a module, line by line as it was. No inner scope reuses the name of an import, which lint ensures (`no-shadow`). Pure. */
export function withoutImports(code: string): string {
  const { program } = parseSync('module.js', code)
  const edits: Edit[] = []
  const places = new Map<string, string>()
  for (const statement of program.body) {
    if (statement.type !== 'ImportDeclaration' || !statement.source.value.startsWith('node:')) continue
    const { specifiers, source, start, end } = statement
    const module = `node${edits.length}`
    for (const each of specifiers) {
      if (each.type !== 'ImportSpecifier' || each.imported.type !== 'Identifier')
        throw new Error(`Import by name, not the whole of ${source.value}.`)
      places.set(each.local.name, `${module}().${each.imported.name}`)
    }
    const getter = `function ${module}() { return ${module}Made ??= process.getBuiltinModule(${source.raw}) }`
    edits.push({ start, end, text: `var ${module}Made; ${getter}${code.slice(start, end).replaceAll(/[^\n]/g, '')}` })
  }
  for (const { name, start, end, isShort } of referencesIn(program)) {
    const place = places.get(name)
    // In parentheses: what is called has no `this`, and `new` makes the class, not what the getter returns.
    if (place !== undefined) edits.push({ start, end, text: isShort ? `${name}: ${place}` : `(0, ${place})` })
  }
  return edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((done, { start, end, text }) => done.slice(0, start) + text + done.slice(end), code)
}

interface Reference extends Omit<Edit, 'text'> {
  readonly name: string
  /** True if it is both a field and its value, as in `{ name }`. */
  readonly isShort: boolean
}

/** References to names as values. */
function referencesIn(program: ESTree.Program): readonly Reference[] {
  const others = new Set<unknown>()
  const short = new Set<unknown>()
  const names: ESTree.IdentifierReference[] = []
  new Visitor({
    ImportDeclaration: ({ specifiers }) =>
      specifiers.forEach((each) => {
        others.add(each.local)
        if (each.type === 'ImportSpecifier') others.add(each.imported)
      }),
    ExportSpecifier: ({ exported }) => void others.add(exported),
    MemberExpression: ({ computed, property }) => void (computed || others.add(property)),
    MethodDefinition: ({ computed, key }) => void (computed || others.add(key)),
    PropertyDefinition: ({ computed, key }) => void (computed || others.add(key)),
    Property({ computed, shorthand, key, value }) {
      if (!computed) others.add(key)
      if (shorthand) short.add(value)
    },
    Identifier: (node) => void names.push(node as ESTree.IdentifierReference),
  }).visit(program)
  return names.flatMap((node) => (others.has(node) ? [] : [{ ...node, isShort: short.has(node) }]))
}
