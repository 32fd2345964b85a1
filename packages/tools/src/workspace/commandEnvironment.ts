/** Well-known variables for paths, locale and the like, which hold no secrets. */
const harmless: ReadonlySet<string> = new Set(
  `PATH HOME USER LOGNAME SHELL HOSTNAME PWD TMPDIR TMP TEMP TZ LANG LANGUAGE
  TERM COLORTERM COLUMNS LINES NO_COLOR FORCE_COLOR CLICOLOR EDITOR VISUAL PAGER MANPATH INFOPATH
  CI DEBIAN_FRONTEND SOURCE_DATE_EPOCH SSL_CERT_FILE SSL_CERT_DIR
  LD_LIBRARY_PATH DYLD_LIBRARY_PATH LIBRARY_PATH CPATH PKG_CONFIG_PATH
  CC CXX AR LD CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_PREFIX_PATH
  NODE_ENV NODE_PATH NODE_OPTIONS NODE_EXTRA_CA_CERTS NVM_DIR NVM_BIN VOLTA_HOME COREPACK_HOME PNPM_HOME
  BUN_INSTALL DENO_DIR PLAYWRIGHT_BROWSERS_PATH PUPPETEER_EXECUTABLE_PATH
  VIRTUAL_ENV PYTHONPATH PYTHONHOME PYTHONUNBUFFERED PYENV_ROOT CONDA_PREFIX CONDA_DEFAULT_ENV
  JAVA_HOME JDK_HOME GRADLE_USER_HOME ANDROID_HOME DOTNET_ROOT
  GOPATH GOROOT GOCACHE GOMODCACHE GOFLAGS CARGO_HOME CARGO_TARGET_DIR RUSTUP_HOME RUSTFLAGS RUST_BACKTRACE
  GEM_HOME GEM_PATH RBENV_ROOT NIX_PATH NIX_PROFILES HOMEBREW_PREFIX HOMEBREW_CELLAR HOMEBREW_REPOSITORY`.split(/\s+/),
)
const harmlessBeginnings = ['LC_', 'XDG_', 'FNM_']
/** Variables with proxy URLs, which may contain a password. */
const addresses: ReadonlySet<string> = new Set(['HTTP_PROXY', 'HTTPS_PROXY', 'FTP_PROXY', 'ALL_PROXY', 'NO_PROXY'])

/** Returns true if commands inherit a variable of this process. */
export const isHarmless = (name: string, value: string): boolean =>
  harmless.has(name) ||
  harmlessBeginnings.some((beginning) => name.startsWith(beginning)) ||
  (addresses.has(name.toUpperCase()) && !value.includes('@'))

/** Returns a command's environment: the harmless variables of `base`, then `added`, where `undefined` removes one. */
export function commandEnvironment(
  base: { readonly [name: string]: string | undefined },
  added: { readonly [name: string]: string | undefined },
): Record<string, string> {
  const own = Object.entries(base).filter(([name, value]) => value !== undefined && isHarmless(name, value))
  const merged = { ...Object.fromEntries(own), ...added }
  return Object.fromEntries(Object.entries(merged).filter((entry): entry is [string, string] => entry[1] !== undefined))
}
