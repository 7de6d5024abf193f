"""Attention of torch.nn.functional, in its plain form: two matrix products with a softmax between.

    scaled_dot_product_attention(q, k, v)   ->   softmax(q @ k.mT / sqrt(d), -1) @ v

The compiler recognizes this form by the pattern of its rows, so it is written once, without blocks.
"""
import math
import torch

aten = torch.ops.aten


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if query.dim() < 2 or key.dim() < 2 or value.dim() < 2:
        raise RuntimeError(f"scaled_dot_product_attention: Expected query, key, and value to all be  at least 2 dimensional, but got Query dim: {query.dim()}, Key dim: {key.dim()} and Value dim: {value.dim()} instead.")
    if query.dtype != key.dtype or query.dtype != value.dtype:
        raise RuntimeError(f"Expected query, key, and value to have the same dtype, but got query.dtype: {query.dtype} key.dtype: {key.dtype} and value.dtype: {value.dtype} instead.")
    if is_causal and attn_mask is not None:
        raise RuntimeError("_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
    if enable_gqa and query.shape[-3] != key.shape[-3]:
        # Several query heads share a key and value head.
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    scores = torch.matmul(query, key.transpose(-2, -1)) * (1.0 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        allowed = torch.ones([query.shape[-2], key.shape[-2]], dtype=torch.bool, device=query.device).tril()
        weights = aten._softmax(torch.where(allowed, scores, -math.inf), -1, False)
    elif attn_mask is not None:
        weights = _masked_softmax(scores, attn_mask)
    else:
        weights = aten._softmax(scores, -1, False)
    if dropout_p > 0.0:
        weights = aten.native_dropout(weights, dropout_p, True)[0]
    return torch.matmul(weights, value)


def _masked_softmax(scores, mask):
    """A row in which everything is masked gets zeros rather than nan."""
    scores = torch.where(mask, scores, -math.inf) if mask.dtype == torch.bool else scores + mask
    nothing = (scores == -math.inf).all(-1, True)
    return torch.where(nothing, 0.0, aten._softmax(scores, -1, False))


def multi_head_attention_forward(
        query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p,
        out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None,
        use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
        average_attn_weights=True, is_causal=False):
    """Sequences come first: query (L, N, E). Returns the output and, when asked for, the weights."""
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    if width != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}")
    if width % num_heads != 0:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {num_heads}")
    head = width // num_heads
    weights = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else None
    q, k, v = _project(query, key, value, in_proj_weight, in_proj_bias, weights)
    if bias_k is not None:
        k = torch.cat([k, bias_k.expand([1, batch, width])])
        v = torch.cat([v, bias_v.expand([1, batch, width])])
    q, k, v = (t.reshape([t.shape[0], batch * num_heads, head]).transpose(0, 1) for t in (q, k, v))
    if add_zero_attn:
        k = torch.cat([k, k.new_zeros([batch * num_heads, 1, head])], 1)
        v = torch.cat([v, v.new_zeros([batch * num_heads, 1, head])], 1)
    source = k.shape[1]
    mask = _merged_mask(attn_mask, key_padding_mask, batch, num_heads, length, source, q.dtype)
    q, k, v = (t.reshape([batch, num_heads, t.shape[1], head]) for t in (q, k, v))
    dropout_p = dropout_p if training else 0.0
    if need_weights:
        scores = torch.matmul(q * math.sqrt(1.0 / head), k.transpose(-2, -1))
        attention = aten._softmax(scores if mask is None else scores + mask, -1, False)
        if dropout_p > 0.0:
            attention = aten.native_dropout(attention, dropout_p, True)[0]
        output = torch.matmul(attention, v)
    else:
        causal = is_causal and key_padding_mask is None
        attention, output = None, scaled_dot_product_attention(q, k, v, None if causal else mask, dropout_p, causal)
    output = output.permute([2, 0, 1, 3]).reshape([length * batch, width])
    output = aten.linear(output, out_proj_weight, out_proj_bias).reshape([length, batch, width])
    if attention is not None and average_attn_weights:
        attention = attention.mean(1)
    if not batched:
        output = output.squeeze(1)
        attention = None if attention is None else attention.squeeze(0)
    return output, attention


def _project(query, key, value, weight, bias, weights):
    """Queries, keys and values; where they are one tensor, by one matrix product."""
    if weights is None and query is key and key is value:
        projected = aten.linear(query, weight, bias)
        return projected.chunk(3, -1)
    if weights is None:
        weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return tuple(aten.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases))


def _as_float_mask(mask, dtype):
    return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, -math.inf) if mask.dtype == torch.bool else mask


def _merged_mask(attn_mask, key_padding_mask, batch, num_heads, length, source, dtype):
    """Both masks added up, as (batch, heads or 1, length or 1, source); True in a boolean one hides."""
    mask = None
    if attn_mask is not None:
        mask = _as_float_mask(attn_mask, dtype)
        mask = mask.reshape([1, 1, length, -1]) if mask.dim() == 2 else mask.reshape([batch, num_heads, length, -1])
        if mask.shape[-1] < source:
            mask = aten.constant_pad_nd(mask, [0, source - mask.shape[-1]])
    if key_padding_mask is not None:
        padding = _as_float_mask(key_padding_mask, dtype).reshape([batch, 1, 1, -1])
        if padding.shape[-1] < source:
            padding = aten.constant_pad_nd(padding, [0, source - padding.shape[-1]])
        mask = padding if mask is None else mask + padding
    return mask
