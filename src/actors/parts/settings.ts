import type { ArtifactSetting } from './artifacts/artifactOptions.ts'
import type { DeferredSetting } from './deferred/deferral.ts'
import type { StateSetting } from './state/stateOptions.ts'
import type { MemorySetting } from './memory/memoryOptions.ts'
import type { PermissionSetting } from './permissions/permissionOptions.ts'

/** The fields of a definition that belong to parts with folders of their own. */
export interface PartSettings<in Deps = never>
  extends MemorySetting<Deps>, ArtifactSetting, DeferredSetting, PermissionSetting, StateSetting {}

export type { Keeping } from './artifacts/keeping.ts'
