import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isAiSdkModel } from '../../actors/models/aiSdk/isAiSdkModel.ts'
import { aiSdkModel } from '../../actors/models/aiSdk/aiSdkModel.ts'
import { messageOf, RuntimeError } from '../../protocol/errors.ts'
import type { Model } from '../../protocol/model.ts'
import type { Provider } from './providers.ts'

/** The entry file of a provider's package, resolved from the user's folder, else from here; `undefined` if not installed. */
export function findPackage({ packageName }: Provider, dir: string): string | undefined {
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
export async function loadModel(provider: Provider, modelId: string, file: string): Promise<Model> {
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
  return aiSdkModel(made, { cache: true })
}

async function make({ factory }: Provider, modelId: string, file: string): Promise<unknown> {
  const exported = (await import(pathToFileURL(file).href)) as Record<string, unknown>
  const create = exported[factory]
  return typeof create === 'function' ? ((await create(modelId)) as unknown) : undefined
}
