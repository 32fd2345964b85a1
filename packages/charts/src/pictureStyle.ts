/** Sizes of the texts in pixels. */
export const fontSizes = { name: 15, detail: 12.5, label: 12.5 } as const

/** Style sheet with the colours of the pictures, light and dark. Every picture contains it. */
export const pictureStyle = `
    .picture { --paper: #ffffff; --frame: #f6f7f9; --box: #ffffff; --line: #c3c9d4; --ink: #1f2937; --quiet: #5b6472; --edge: #7c8698; --lit: #e0f0ed; --glow: #0b6b63; --warn: #b0700a; --open: #15803d; --shut: #b4322a; --tag: #8a5a00; font-family: ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
    @media (prefers-color-scheme: dark) { .picture { --paper: #14171c; --frame: #1a1e25; --box: #222831; --line: #3d4654; --ink: #e6e9ee; --quiet: #a3adbb; --edge: #79849a; --lit: #17332f; --glow: #62cdbf; --warn: #f0b13c; --open: #4cc475; --shut: #f0857b; --tag: #e2b45a; } }
    .paper { fill: var(--paper); }
    text { fill: var(--ink); font-size: ${fontSizes.name}px; }
    .quiet { fill: var(--quiet); font-size: ${fontSizes.detail}px; }`
