import { createRequire } from 'node:module'
import { join } from 'node:path'

/** An option of a function, as its type says. */
export interface Option {
  /** With a question mark, if it may be left out. */
  readonly name: string
  readonly type: string
  readonly what: string
}

/** The parts of TypeScript's API that this needs: the compiler is the one that TypeDoc brings, not the repository's. */
interface Compiler {
  createProgram(files: readonly string[], options: object): Program
  parseJsonConfigFileContent(json: object, host: object, folder: string): { readonly options: object }
  displayPartsToString(parts: readonly object[]): string
  readonly sys: object
}
interface Program {
  getTypeChecker(): Checker
  getSourceFile(file: string): object | undefined
}
interface Checker {
  getSymbolAtLocation(node: object): Named | undefined
  getExportsOfModule(symbol: Named): readonly Named[]
  getAliasedSymbol(symbol: Named): Named
  getTypeOfSymbol(symbol: Named): Type
  getNonNullableType(type: Type): Type
  typeToString(type: Type): string
}
interface Named {
  readonly name: string
  readonly flags: number
  readonly valueDeclaration?: Declaration
  getDocumentationComment(checker: Checker): readonly object[]
}
interface Declaration {
  readonly type?: { getText(): string }
  getSourceFile(): { readonly fileName: string }
}
interface Type {
  isUnion(): boolean
  getCallSignatures(): readonly { readonly parameters: readonly Named[] }[]
  getProperties(): readonly Named[]
}

const isAlias = 2_097_152
const isOptional = 16_777_216

/** Characters of a type beyond which it is told in words elsewhere. */
const longestType = 110

/**
 * Reads the options of the functions that some modules export: their last parameter, where it is an object of ours. Key: the module's file
 * without ending, a slash, the function.
 */
export function optionTables(
  root: string,
  packages: string,
  modules: readonly string[],
): ReadonlyMap<string, readonly Option[]> {
  const compiler = createRequire(join(packages, 'package.json'))('typescript') as Compiler
  const compilerOptions = {
    target: 'esnext',
    lib: ['es2024', 'esnext.disposable', 'dom', 'dom.iterable'],
    module: 'nodenext',
    moduleResolution: 'nodenext',
    allowImportingTsExtensions: true,
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    types: ['node'],
    typeRoots: [join(root, 'node_modules', '@types')],
  }
  const { options } = compiler.parseJsonConfigFileContent({ compilerOptions, files: [] }, compiler.sys, root)
  const fileOf = (module: string): string => join(root, 'src', `${module}.ts`)
  const program = compiler.createProgram(modules.map(fileOf), options)
  const checker = program.getTypeChecker()
  const read = (type: Type): readonly Option[] =>
    type.getProperties().map((property) => ({
      name: `${property.name}${(property.flags & isOptional) === 0 ? '' : '?'}`,
      type: typeOf(property, checker),
      what: compiler.displayPartsToString(property.getDocumentationComment(checker)).replaceAll(/\s+/g, ' '),
    }))
  const tables = new Map<string, readonly Option[]>()
  for (const module of modules) {
    const symbol = checker.getSymbolAtLocation(program.getSourceFile(fileOf(module))!)
    for (const each of symbol === undefined ? [] : checker.getExportsOfModule(symbol)) {
      const exported = (each.flags & isAlias) === 0 ? each : checker.getAliasedSymbol(each)
      const type = optionsOf(exported, checker, root)
      if (type !== undefined) tables.set(`${module}/${each.name}`, read(type))
    }
  }
  return tables
}

/** The type of a function's options; `undefined` for what is no function, or takes none. */
function optionsOf(exported: Named, checker: Checker, root: string): Type | undefined {
  if (exported.valueDeclaration === undefined) return undefined
  const last = checker.getTypeOfSymbol(exported).getCallSignatures().at(-1)?.parameters.at(-1)
  if (last === undefined || !/options$|^__/i.test(last.name)) return undefined
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(last))
  const properties = type.getProperties()
  const isOurs = (property: Named): boolean => {
    const file = property.valueDeclaration?.getSourceFile().fileName.replaceAll('\\', '/') ?? ''
    return file === '' || (file.startsWith(root.replaceAll('\\', '/')) && !file.includes('/node_modules/'))
  }
  const isOptions = !type.isUnion() && type.getCallSignatures().length === 0 && properties.length > 1
  return isOptions && properties.every(isOurs) ? type : undefined
}

function typeOf(property: Named, checker: Checker): string {
  const type = checker.getTypeOfSymbol(property)
  const written = property.valueDeclaration?.type?.getText().replaceAll(/\s*\/\*[\s\S]*?\*\/\s*/g, ' ')
  // Of a method only what it returns is written there.
  const isMethod = written !== undefined && !written.includes('=>') && type.getCallSignatures().length > 0
  const text = (isMethod || written === undefined ? checker.typeToString(type) : written)
    .replaceAll(/\s+/g, ' ')
    .replace(/^\| /, '')
  if (text.length <= longestType) return text
  return text.startsWith('{') ? 'object' : `${text.slice(0, longestType - 1)}…`
}

/** A table of options for a page. Pure. */
export const optionTable = (options: readonly Option[]): string =>
  [
    '| Property | Type | Description |',
    '| ------ | ------ | ------ |',
    ...options.map(({ name, type, what }) => `| \`${name}\` | ${cell(`\`${type}\``)} | ${cell(what) || '-'} |`),
  ].join('\n')

const cell = (text: string): string => text.replaceAll('|', String.raw`\|`)
