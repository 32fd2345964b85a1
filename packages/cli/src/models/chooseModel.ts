import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RuntimeError, messageOf } from '../../../../src/protocol/errors.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { embeddedModel } from '../embedded/embeddedModel.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { providers, type Provider } from './providers.ts'
import { isAiSdkModel } from '../../../ai-sdk/src/adapters/isAiSdkModel.ts'
import { modelOf } from '../../../ai-sdk/src/adapters/modelOf.ts'
import { keyInFile } from '../../../tools/src/userFiles/keyInFile.ts'
import type { LoadedConfig } from '../config/readConfig.ts'
import { aiSdkModel } from '../../../ai-sdk/src/adapters/aiSdkModel.ts'

export interface ModelChoice {
  readonly model: Model
  readonly isEmbedded: boolean
  /** Reason on one line why this model was chosen. Missing if it was requested by name. */
  readonly notice?: string
}

export interface ModelWish {
  /** Value of `--model`. */
  readonly asked: string | undefined
  /** True if `asked` is the model of a continued session rather than a person's choice. */
  readonly isRecorded?: boolean
  readonly env: NodeJS.ProcessEnv
  /** The folder in which provider packages are looked up first. */
  readonly dir: string
  /** Delay between words of the embedded model, so that people can follow it. */
  readonly wordDelayMs: number
  /** The configuration's settings for models. */
  readonly config?: Pick<LoadedConfig, 'model' | 'models' | 'file'> | undefined
}

/**
 * Returns the model given by option, `ESCAPEMENT_MODEL` or the configuration, or else the first provider with a key and a package, or else the
 * embedded one. A name in the configuration's `models` stands for the model given there.
 *
 * @throws RuntimeError `INVALID_OPTION` for an invalid name, `MODEL_UNAVAILABLE` for a missing package or key.
 */
export async function chooseModel(wish: ModelWish): Promise<ModelChoice> {
  const { env, dir } = wish
  const asked = wish.asked ?? (env['ESCAPEMENT_MODEL'] || undefined)
  const said = asked ?? wish.config?.model
  const { models = {} } = wish.config ?? {}
  const alias = typeof said === 'string' && Object.hasOwn(models, said) ? said : undefined
  const meant = alias === undefined ? said : models[alias]
  if (meant === 'embedded') return embedded(wish)
  if (typeof meant === 'string')
    return { model: await namedModel(meant, wish, () => whereSaid(wish, alias)), isEmbedded: false }
  if (meant !== undefined) return { model: modelOf(meant, 'The configuration'), isEmbedded: false }
  const missing: string[] = []
  for (const [label, provider] of Object.entries(providers)) {
    const key = keyOf(provider, env)
    if (key === undefined) continue
    const file = findPackage(provider, dir)
    if (file === undefined) missing.push(`${key} is set, but ${provider.packageName} is not installed`)
    else {
      const model = await loadModel(provider, provider.defaultModel, file)
      return {
        model,
        isEmbedded: false,
        notice: `Using ${label}:${provider.defaultModel}, as ${key} is set; choose another with --model.`,
      }
    }
  }
  const why = missing.length === 0 ? 'no key of a provider is set' : missing.join('; ')
  return {
    ...embedded(wish),
    notice: `Using the embedded model, which can only repair failing tests: ${why}. See --help for real models.`,
  }
}

const embedded = ({ wordDelayMs }: ModelWish): ModelChoice => ({
  model: embeddedModel({ wordDelayMs }),
  isEmbedded: true,
})

const keyOf = ({ keys }: Provider, env: NodeJS.ProcessEnv): string | undefined =>
  keys.find((key) => (env[key] ?? '') !== '')

/** Describes where the name of a model was given: an option, a variable, or a line of the configuration, such as an alias. */
function whereSaid({ asked, isRecorded = false, env, config }: ModelWish, alias: string | undefined): string {
  if (isRecorded) return "The session's model"
  if (config !== undefined && alias !== undefined) return keyInFile(config.file, ['models', alias])
  if (asked !== undefined) return '--model'
  if (config === undefined || (env['ESCAPEMENT_MODEL'] ?? '') !== '') return 'ESCAPEMENT_MODEL'
  return keyInFile(config.file, ['model'])
}

async function namedModel(name: string, { env, dir, config }: ModelWish, where: () => string): Promise<Model> {
  const [label = '', ...rest] = name.split(':')
  const modelId = rest.join(':')
  const names = Object.keys(providers)
  if (modelId === '') {
    const known = Object.keys(config?.models ?? {})
    const own = known.length === 0 ? '' : ` The configuration has: ${known.join(', ')}.`
    throw new RuntimeError(
      'INVALID_OPTION',
      `${where()} "${name}" is not of the form provider:model, like anthropic:${providers['anthropic']!.defaultModel}.${own}`,
    )
  }
  const provider = Object.hasOwn(providers, label) ? providers[label] : undefined
  if (provider === undefined) {
    const nearest = nearestWord(label, names)
    const hint = nearest === undefined ? `There are: ${names.join(', ')}.` : `Did you mean "${nearest}"?`
    throw new RuntimeError('INVALID_OPTION', `${where()} "${name}" names an unknown provider "${label}". ${hint}`)
  }
  const file = findPackage(provider, dir)
  if (file === undefined) {
    throw new RuntimeError(
      'MODEL_UNAVAILABLE',
      `${where()} ${name} needs the package ${provider.packageName}: npm install ${provider.packageName}.`,
    )
  }
  if (keyOf(provider, env) === undefined) {
    throw new RuntimeError('MODEL_UNAVAILABLE', `${where()} ${name} needs a key: ${provider.keys[0]} is not set.`)
  }
  return loadModel(provider, modelId, file)
}

/** Returns the entry file of a provider's package, resolved from the user's folder or else from here; `undefined` if not installed. */
function findPackage({ packageName }: Provider, dir: string): string | undefined {
  for (const from of [join(dir, 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve(packageName)
    } catch {
      // Not found there: try the next place.
    }
  }
  return undefined
}

/** Imports a provider's package and makes the model. @throws RuntimeError `MODEL_UNAVAILABLE`, `INVALID_DEFINITION` */
async function loadModel(provider: Provider, modelId: string, file: string): Promise<Model> {
  const { packageName, factory } = provider
  const made = await make(provider, modelId, file).catch((thrown: unknown) => {
    throw new RuntimeError(
      'MODEL_UNAVAILABLE',
      `${packageName} could not make the model "${modelId}": ${messageOf(thrown)}.`,
      {
        cause: thrown,
      },
    )
  })
  if (!isAiSdkModel(made)) {
    throw new RuntimeError(
      'MODEL_UNAVAILABLE',
      `${packageName} has no function "${factory}" that gives a language model.`,
    )
  }
  return aiSdkModel(made)
}

async function make({ factory }: Provider, modelId: string, file: string): Promise<unknown> {
  const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  const create = exported[factory]
  return typeof create === 'function' ? ((await create(modelId)) as unknown) : undefined
}
