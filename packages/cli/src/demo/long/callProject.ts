/** Default number of modules in the project. */
export const usualModules = 96

export const projectCheckFile = 'check.mjs'

const areas = ['billing', 'claims', 'customs', 'depot', 'export', 'fleet'].concat([
  'import',
  'label',
  'pickup',
  'refund',
  'route',
  'storage',
])
const kinds = ['cost', 'delay', 'margin', 'quota', 'reserve', 'score', 'share', 'weight']
const nouns = ['crates', 'kilos', 'orders', 'pallets', 'parcels', 'shifts', 'stops', 'vans', 'weeks', 'zones']
const results = ['first', 'second', 'third']
const modulus = 100_003
const highest = 40

interface Call {
  readonly callee: Module
  readonly args: readonly (string | number)[]
}

interface Module {
  readonly path: string
  readonly name: string
  readonly params: readonly [string, string, string]
  /** Rows of its table: each factor, and the greatest value of the first parameter for which it holds. */
  readonly rows: readonly { readonly upTo: number; readonly factor: number }[]
  readonly calls: readonly Call[]
}

/**
 * Returns a project in the middle of a change, with paths as keys: its functions take one object, while all calls still pass arguments by
 * position. It is always the same. `check.mjs` prints the number of modules that compute the right values.
 */
export function callProject(count = usualModules): Record<string, string> {
  const modules: Module[] = []
  for (let place = 0; place < count; place++) modules.push(moduleAt(place, modules))
  const files = modules.map((module): [path: string, content: string] => [module.path, sourceOf(module)])
  return { 'package.json': manifest, [projectCheckFile]: checkProgram(modules), ...Object.fromEntries(files) }
}

const manifest = `{
  "name": "parcel-figures",
  "private": true,
  "type": "module"
}
`

function moduleAt(place: number, before: readonly Module[]): Module {
  const area = areas[Math.floor(place / kinds.length) % areas.length]!
  const kind = kinds[place % kinds.length]!
  const param = (step: number): string => nouns[(place * 3 + step) % nouns.length]!
  const params = [param(0), param(3), param(7)] as const
  const rows = Array.from({ length: 22 }, (_, row) => ({ upTo: 2 + row * 2, factor: 3 + ((place + row * 5) % 23) }))
  // Those before it, in groups of four, or a call would be of thousands; and every third time one from long ago, each of them once.
  const inGroup = place % 4
  const callees = [inGroup > 0 ? before[place - 1] : undefined, inGroup > 1 ? before[place - 2] : undefined]
  const distant = place % 3 === 0 && place >= 12 ? before[place / 3] : undefined
  const calls = [...callees, distant]
    .filter((callee) => callee !== undefined)
    .map((callee, index) => ({
      callee,
      args: [params[index % 3]!, params[(index + 1) % 3]!, 2 + ((place + index) % 7)],
    }))
  return { path: `src/${area}/${kind}.js`, name: area + kind[0]!.toUpperCase() + kind.slice(1), params, rows, calls }
}

function sourceOf({ path, name, params, rows, calls }: Module): string {
  const [area, kind] = path.split(/[/.]/).slice(1)
  const [scale, times, plus] = params
  const imports = calls.map(({ callee }) => {
    const [calleeArea, file] = callee.path.split('/').slice(1)
    return `import { ${callee.name} } from '${calleeArea === area ? '.' : `../${calleeArea}`}/${file}'\n`
  })
  const called = calls.map(
    ({ callee, args }, index) =>
      `  // What ${callee.path.split('/')[1]} adds to the ${kind}, by its own table.\n` +
      `  const ${results[index]} = ${callee.name}(${args.join(', ')})\n`,
  )
  const sum = calls.map((_, index) => ` + ${index + 2} * ${results[index]}`).join('')
  const table = rows.map(
    ({ upTo, factor }) =>
      `  { upTo: ${upTo}, factor: ${factor} }, // up to ${upTo} ${scale}: ${factor} for each of the ${times}\n`,
  )
  return `${imports.join('')}${imports.length === 0 ? '' : '\n'}/** Factors of the ${kind} in ${area}, by the number of ${scale}; beyond the table it is ${highest}. */
const rows = [
${table.join('')}]

/** The ${kind} that ${area} reckons with, from the number of ${scale}, ${times} and ${plus}. */
export function ${name}({ ${params.join(', ')} }) {
  const factor = rows.find(({ upTo }) => ${scale} <= upTo)?.factor ?? ${highest}
  const base = factor * ${times} + ${plus}
${called.join('')}  return (base${sum}) % ${modulus}
}
`
}

/** Computes the expected result of a module from its description, without its source. */
function valueOf({ params, rows, calls }: Module, given: readonly number[]): number {
  const [scale, times, plus] = given as [number, number, number]
  const factor = rows.find(({ upTo }) => scale <= upTo)?.factor ?? highest
  const valueFor = (arg: string | number): number => (typeof arg === 'number' ? arg : given[params.indexOf(arg)]!)
  const added = calls.map(({ callee, args }, index) => (index + 2) * valueOf(callee, args.map(valueFor)))
  return added.reduce((sum, value) => sum + value, factor * times + plus) % modulus
}

function checkProgram(modules: readonly Module[]): string {
  const given = [9, 5, 4]
  const cases = modules.map((module) => {
    const input = module.params.map((param, index) => `${param}: ${given[index]}`).join(', ')
    return `  ['./${module.path}', '${module.name}', { ${input} }, ${valueOf(module, given)}],\n`
  })
  return `// node check.mjs: does each module compute what it should?
const cases = [
${cases.join('')}]

const wrong = []
for (const [path, name, input, expected] of cases) {
  const { [name]: compute } = await import(path)
  if (compute(input) !== expected) wrong.push(path)
}
console.log(\`\${cases.length - wrong.length} of \${cases.length} modules compute what they should\`)
if (wrong.length > 0) throw new Error(\`wrong: \${wrong.slice(0, 5).join(', ')}\`)
`
}
