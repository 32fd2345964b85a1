/** `undefined`: the object had no such property of its own. */
type Descriptors = ReadonlyMap<PropertyKey, PropertyDescriptor | undefined>

/** Objects of which tests and packages exchange parts. Only the functions of a stream are put back, not its state. */
const shared: readonly (readonly [object: object, keys?: readonly PropertyKey[]])[] = [
  ...[globalThis, console, Math, Date, JSON, performance].map((object) => [object] as const),
  ...[process.stdout, process.stderr].map((stream) => [stream, ['write', 'isTTY', 'columns', 'rows']] as const),
]

function* descriptorsOf(
  object: object,
  keys: readonly PropertyKey[] = Reflect.ownKeys(object),
): Generator<readonly [PropertyKey, PropertyDescriptor | undefined]> {
  for (const key of keys) yield [key, Reflect.getOwnPropertyDescriptor(object, key)]
}

/** Compares properties by their getters, if they have any: Node creates some values at the first access. */
const isSame = (now: PropertyDescriptor | undefined, before: PropertyDescriptor | undefined): boolean =>
  now?.get === before?.get && (before?.get !== undefined || Object.is(now?.value, before?.value))

function restoreProperties(object: object, before: Descriptors): void {
  for (const [key, descriptor] of before) {
    if (isSame(Reflect.getOwnPropertyDescriptor(object, key), descriptor)) continue
    if (descriptor === undefined) Reflect.deleteProperty(object, key)
    else if (descriptor.configurable === true) Reflect.defineProperty(object, key, descriptor)
  }
}

function restoreEnvironment(before: NodeJS.ProcessEnv): void {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  for (const [name, value] of Object.entries(before)) if (process.env[name] !== value) process.env[name] = value
}

/**
 * Notes the globals, the environment and the working folder; returns a function that restores them. A file of tests may load a package that
 * exchanges them for good, such as `Response` for one that cannot be changed, and the next file in the process is to have those of Node.
 */
export function keepGlobals(): () => void {
  const properties = shared.map(([object, keys]) => [object, new Map(descriptorsOf(object, keys))] as const)
  const environment = { ...process.env }
  const folder = process.cwd()
  return () => {
    for (const [object, before] of properties) restoreProperties(object, before)
    restoreEnvironment(environment)
    if (process.cwd() !== folder) process.chdir(folder)
    process.exitCode = undefined
  }
}
